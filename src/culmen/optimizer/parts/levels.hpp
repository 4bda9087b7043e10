// A few values of each parameter, for grids and scans.
#pragma once
#include <vector>

#include "culmen/space/space.hpp"

namespace culmen {

/// For each parameter, in ascending order and without repetition: all choices of a categorical one, otherwise at most
/// `points` numbers that divide the range evenly on its scale, bounds included (points = 1: the middle).
std::vector<std::vector<double>> levels_of(const Space& space, std::size_t points);

}  // namespace culmen
