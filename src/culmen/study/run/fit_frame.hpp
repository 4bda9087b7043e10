// The parameters for the derivatives of a fit, each in its own scale.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "culmen/space/space.hpp"

namespace culmen {

/// Coordinates u of the free parameters about a point x: the parameter, or its logarithm if its scale is logarithmic.
/// All other parameters keep their values in x. As Frame in python/culmen/fit/frame.py.
struct FitFrame {
  const Space& space;
  std::vector<double> x;
  std::vector<std::size_t> free = {};  ///< their indices
  Eigen::VectorXd start = {}, lower = {}, upper = {};
  Eigen::VectorXd width =
      {};  ///< of the range; if a bound is missing: twice the absolute value, or 2 if the value is 0

  bool is_log(std::size_t i) const { return space[i].scale == Scale::log; }
  /// The vector of the space for `u`, moved into the bounds.
  std::vector<double> vector(const Eigen::VectorXd& u) const;
  /// dx/du at the start.
  double slope(std::size_t k) const { return is_log(free[k]) ? x[free[k]] : 1; }
  /// The frame of only the free parameters with these indices.
  FitFrame part(const std::vector<Eigen::Index>& kept) const;
};

/// The real parameters that are active and at no bound.
FitFrame fit_frame_of(const Space& space, const std::vector<double>& x);

}  // namespace culmen
