// What a model is made of: points that were evaluated.
#pragma once
#include <Eigen/Dense>
#include <array>
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

/// Which share of the values, from the best on, a model sees as they are; what is above is compressed by a logarithm.
inline constexpr std::array compressions{1.0, 0.5, 0.2};

/// What a model is fitted to: values of mean 0 and deviation 1, which do not change where the objective is shifted or
/// multiplied; points that violate constraints lie above all that do not, by rank, and failures highest.
class ModelValues {
 public:
  /// compression: an index.
  ModelValues(const std::vector<Point>& points, std::size_t compression);
  const Eigen::VectorXd& values() const { return values_; }
  /// Of the density of the values themselves it is what minus the logarithm of that of values() lacks: what tells
  /// compressions apart (warped processes: Snelson, Rasmussen and Ghahramani, NIPS 2003).
  double log_stretch() const { return log_stretch_; }
  /// The objective that such a value stands for; of those who violate constraints or failed, nothing.
  double objective(double value) const;

 private:
  double warped(double objective) const;
  Eigen::VectorXd values_;
  double unit_ = 1, middle_ = 0, scale_ = 0;  // the objective over unit_ less middle_, over scale_
  bool compressed_ = false;
  double mean_ = 0, deviation_ = 1, log_stretch_ = 0;
};

}  // namespace culmen::bayes
