// A parameter's place in its box by orders of magnitude, whatever its scale. Starts cover these places evenly, and two
// places are compared by them.
#pragma once
#include "culmen/space/parameter.hpp"

namespace culmen::lm {

/// A positive (or negative) box is divided evenly in the logarithm. A box around zero is divided evenly in asinh(x /
/// c); c is a twentieth of its reach. u in [0, 1]; the result is inside the box.
double of_magnitude(const Parameter& p, double u);
/// Its inverse; v in the box.
double magnitude_of(const Parameter& p, double v);

}  // namespace culmen::lm
