// A forest of extremely randomised trees (Geurts, Ernst and Wehenkel, Machine Learning 63 (2006) 3) that estimates its
// own uncertainty (Hutter, Xu, Hoos and Leyton-Brown, Artificial Intelligence 206 (2014) 79). It suits unordered
// parameters, conditions, and functions with steps.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::bayes {

class Forest {
 public:
  struct Prediction {
    double mean = 0, variance = 0;  ///< over all trees, of the values in the leaf of the point
  };

  /// Fits m points (rows) and their values. ordered: one flag per parameter; unordered ones are compared for equality
  /// only. The cost grows as n m log m for n parameters.
  Forest(const Eigen::MatrixXd& points, const Eigen::VectorXd& values, std::vector<char> ordered, std::uint64_t seed);
  Prediction at(const Eigen::VectorXd& x) const;

 private:
  struct Node {
    int parameter = -1;             // -1: a leaf
    double threshold = 0;           // for ordered parameters: smaller values go left
    std::vector<double> left = {};  // for unordered parameters: the values that go left
    std::size_t below = 0, above = 0;
    double mean = 0, variance = 0;
  };
  struct Split {
    Node node;
    double gain = -1;
  };
  using Rows = std::vector<Eigen::Index>;

  std::size_t grow(Rows& rows, std::size_t from, std::size_t to);
  Split best_split(const Rows& rows, std::size_t from, std::size_t to);
  Split drawn(Eigen::Index parameter, const Rows& rows, std::size_t from, std::size_t to);
  bool goes_left(const Node& node, double value) const;

  const Eigen::MatrixXd& points_;  // while it grows
  const Eigen::VectorXd& values_;
  const std::vector<char> ordered_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace culmen::bayes
