// A function that a user forgot to declare as extern "C".
double squared(double x) { return x * x; }
