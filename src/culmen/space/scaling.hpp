// One parameter's double <-> its place in [0, 1], whether it is active or not.
#pragma once
#include "culmen/space/parameter.hpp"

namespace culmen {

double from_unit(const Parameter& p, double u);
double to_unit(const Parameter& p, double v);

}  // namespace culmen
