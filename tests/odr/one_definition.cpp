struct Twice {
  int value;
};
int value_of(const Twice& twice) { return twice.value; }
