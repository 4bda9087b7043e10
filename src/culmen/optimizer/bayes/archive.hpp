// What a model is made of: points that were evaluated.
#pragma once
#include <Eigen/Dense>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::bayes {

struct Point {
  Eigen::VectorXd unit;
  bool ok = true;
  double violation = 0, value = 0;

  static Point of(Eigen::VectorXd unit, const Outcome& outcome);
  /// As culmen::better().
  bool better_than(const Point& other) const;
};

/// At most 9/8 of `most` of the points that came: the best third of `most`, its newest third, and those nearest to the
/// best. In the order in which they came.
class Archive {
 public:
  explicit Archive(std::size_t most) : most_(most) {}
  void add(Point point);
  void clear();
  const std::vector<Point>& points() const { return points_; }
  /// Index of the best; of equals the first. There is one.
  std::size_t best() const { return best_; }

 private:
  void thin();
  std::size_t most_, best_ = 0;
  std::vector<Point> points_;
};

/// What a model is fitted to: values in [-1, …) or so that do not change where the objective is shifted or multiplied:
/// 0 is their median, -1 the best, what is above the median is compressed by a logarithm; points that violate
/// constraints lie above all that do not, by rank, and failures highest.
Eigen::VectorXd model_values(const std::vector<Point>& points);

}  // namespace culmen::bayes
