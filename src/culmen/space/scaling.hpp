// Converts the double of one parameter to its place in [0, 1] and back, for active and inactive parameters.
#pragma once
#include "culmen/space/parameter.hpp"

namespace culmen {

/// Whether both bounds are finite. A real parameter may lack one or both; it then has an initial value.
bool has_bounds(const Parameter& p);
/// The width of the range. Without bounds, it is the width of the middle half, which lies around the initial value.
double width_of(const Parameter& p);

/// Without a bound, half of all places lie at most one size of the parameter from its initial value. No place is
/// farther than about 10^8 times this size.
double from_unit(const Parameter& p, double u);
double to_unit(const Parameter& p, double v);

/// The places that map to one value of a discrete parameter.
struct Cell {
  double lower, upper;  ///< the outermost cells end at 0 and 1

  double middle() const { return lower + (upper - lower) / 2; }
  bool first() const { return lower <= 0; }
  bool last() const { return upper >= 1; }
  /// Places outside [0, 1] belong to the outermost cells.
  bool holds(double u) const { return (first() || u >= lower) && (last() || u < upper); }
};

/// The cell of u, for a discrete parameter.
Cell cell_of(const Parameter& p, double u);

}  // namespace culmen
