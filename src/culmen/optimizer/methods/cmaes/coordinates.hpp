// Between the optimizer's coordinates and the space.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/cmaes/distribution.hpp"
#include "culmen/space/space.hpp"

namespace culmen::cmaes {

/// The space's initial values; the middle for parameters without one.
Eigen::VectorXd first_mean(const Space& space);
/// A random point of the unit cube.
Eigen::VectorXd random_mean(const Space& space, Random& random);
/// One flag for each coordinate: whether it is real.
std::vector<char> real_ones(const Space& space);
/// Keeps the distribution inside the unit cube from now on; see Distribution::confine().
void confine_to_cube(Distribution& distribution);
/// The nearest point of the unit cube.
inline Eigen::VectorXd within_cube(const Eigen::VectorXd& point) { return point.cwiseMax(0.0).cwiseMin(1.0); }
/// The vector of the nearest point of the unit cube, in the space's own units.
std::vector<double> into_space(const Space& space, const Eigen::VectorXd& point);

}  // namespace culmen::cmaes
