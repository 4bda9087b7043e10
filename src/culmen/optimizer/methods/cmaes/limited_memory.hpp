// Correlations of very many parameters, limited to a few directions.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/optimizer/methods/cmaes/constants.hpp"

namespace culmen::cmaes {

/// The transformation of LM-MA-ES (Loshchilov, Glasmachers and Beyer, "Large scale black-box optimization by
/// limited-memory matrix adaptation", IEEE Trans. Evol. Comput. 23 (2019) 353). It is a product of `count` matrices.
/// Each is the identity except for one direction, and remembers the path of generations over a time; these times grow
/// fourfold. Memory and time per candidate are proportional to n × count.
class LimitedMemory {
 public:
  LimitedMemory(const Constants& constants, std::size_t count);
  static std::size_t default_count(std::size_t n);  ///< 4 + ⌊3 ln n⌋

  /// Makes standard normal vectors (columns) correlated.
  void transform(Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// The inverse of transform().
  void whiten(Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// Logarithm of the determinant of the transformation.
  double log_volume() const;
  /// shift: the weighted sum of a generation's standard normal vectors.
  void learn(const Eigen::VectorXd& shift, double mueff);
  /// The factor of the direction that is stretched most, compared with a direction across all of them. Every tenth
  /// learn() updates it.
  double stretch() const { return stretch_; }

 private:
  double measured_stretch() const;

  Eigen::MatrixXd directions_;          // one a column
  std::vector<double> shares_, rates_;  // by direction: its share of the product; its learning rate
  Eigen::Index known_ = 0;
  std::size_t learned_ = 0;
  double stretch_ = 1;
};

}  // namespace culmen::cmaes
