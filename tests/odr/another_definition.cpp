struct Twice {
  double value;
};
double twice_the_value(const Twice& twice) { return 2 * twice.value; }
