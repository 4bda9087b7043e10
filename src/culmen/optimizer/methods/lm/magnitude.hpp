// A parameter's place in its box by orders of magnitude, whatever its scale: what starts cover evenly, and by which two
// places are the same.
#pragma once
#include "culmen/space/parameter.hpp"

namespace culmen::lm {

/// A positive (or negative) box goes evenly in the logarithm, one around zero evenly in asinh(x / c), with c a
/// twentieth of its reach. u in [0, 1]; the result is inside the box.
double of_magnitude(const Parameter& p, double u);
/// Its inverse; v in the box.
double magnitude_of(const Parameter& p, double v);

}  // namespace culmen::lm
