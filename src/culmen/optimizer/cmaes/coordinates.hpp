// Between the optimizer's unbounded coordinates and the space.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/optimizer/cmaes/distribution.hpp"
#include "culmen/space/space.hpp"

namespace culmen::cmaes {

/// The space's initial values, the middle where there are none.
Eigen::VectorXd first_mean(const Space& space);
/// Floors of the deviations: a share of a cell for what is discrete, else 0.
Eigen::VectorXd least_deviations(const Space& space);
/// Into the unit cube.
Eigen::VectorXd bent(const Space& space, const Eigen::VectorXd& point);
/// With its mean bent.
Density bent(const Space& space, Density density);
/// A vector of the space, in its own units.
std::vector<double> into_space(const Space& space, const Eigen::VectorXd& point);

}  // namespace culmen::cmaes
