// The coordinates of a descent: the parameters themselves, or their logarithms.
#pragma once
#include <Eigen/Dense>
#include <span>
#include <vector>

#include "culmen/space/space.hpp"

namespace culmen::lm {

/// z_i is the parameter or its logarithm. It is the logarithm if the parameter's scale is log; with `logarithmic` also
/// if its box is positive. Immutable.
class Coordinates {
 public:
  Coordinates(const Space& space, bool logarithmic);

  Eigen::Index size() const { return lower_.size(); }
  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }
  /// Inside the bounds, which map to each other exactly.
  std::vector<double> to_space(const Eigen::VectorXd& z) const;
  Eigen::VectorXd from_space(std::span<const double> x) const;
  /// The change of z_i that changes the parameter by its own size. Steps of differences are shares of it.
  double size_of(Eigen::Index i, double z) const;
  Eigen::VectorXd sizes_at(const Eigen::VectorXd& z) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<char> log_;
  Eigen::VectorXd lower_, upper_;
};

}  // namespace culmen::lm
