// Correlations of very many parameters, in a few directions.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/optimizer/methods/cmaes/constants.hpp"

namespace culmen::cmaes {

/// The transformation of LM-MA-ES (Loshchilov, Glasmachers and Beyer, "Large scale black-box optimization by limited-
/// memory matrix adaptation", IEEE Trans. Evol. Comput. 23 (2019) 353): a product of `count` matrices, each the
/// identity but for one direction, that remember the paths of generations over times that grow fourfold. Memory and
/// time per candidate: n × count.
class LimitedMemory {
 public:
  LimitedMemory(const Constants& constants, std::size_t count);
  static std::size_t default_count(std::size_t n);  ///< 4 + ⌊3 ln n⌋

  /// Columns: standard normal vectors become correlated ones.
  void transform(Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// The way back.
  void whiten(Eigen::Ref<Eigen::MatrixXd> columns) const;
  /// Logarithm of the determinant of the transformation.
  double log_volume() const;
  /// shift: the weighted sum of a generation's standard normal vectors.
  void learn(const Eigen::VectorXd& shift, double mueff);
  /// By how much it stretches the direction that it stretches most, beside one across all of them; looked up by learn()
  /// every tenth time.
  double stretch() const { return stretch_; }

 private:
  double measured_stretch() const;

  Eigen::MatrixXd directions_;          // one a column
  std::vector<double> shares_, rates_;  // of a direction in the product; of learning it
  Eigen::Index known_ = 0;
  std::size_t learned_ = 0;
  double stretch_ = 1;
};

}  // namespace culmen::cmaes
