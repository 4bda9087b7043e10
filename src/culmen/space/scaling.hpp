// One parameter's double <-> its place in [0, 1], whether it is active or not.
#pragma once
#include "culmen/space/parameter.hpp"

namespace culmen {

double from_unit(const Parameter& p, double u);
double to_unit(const Parameter& p, double v);

/// The places that become one value of what is discrete.
struct Cell {
  double lower, upper;  ///< 0 and 1 are the ends of the outermost ones

  double middle() const { return lower + (upper - lower) / 2; }
  bool first() const { return lower <= 0; }
  bool last() const { return upper >= 1; }
  /// What lies outside of [0, 1] belongs to the outermost ones.
  bool holds(double u) const { return (first() || u >= lower) && (last() || u < upper); }
};

/// That of u, of a discrete parameter.
Cell cell_of(const Parameter& p, double u);

}  // namespace culmen
