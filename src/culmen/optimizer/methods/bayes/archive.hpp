// The data of a model: points that were evaluated.
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

/// Keeps at most 9/8 of `most` points: the best third of `most`, the newest third, and those nearest to the best. They
/// stay in the order of their arrival.
class Archive {
 public:
  explicit Archive(std::size_t most) : most_(most) {}
  void add(Point point);
  void clear();
  const std::vector<Point>& points() const { return points_; }
  /// Index of the best point; among equals the first. The archive must not be empty.
  std::size_t best() const { return best_; }

 private:
  void thin();
  std::size_t most_, best_ = 0;
  std::vector<Point> points_;
};

/// The share of values, from the best on, that a model sees unchanged. Values above are compressed by a logarithm.
inline constexpr std::array compressions{1.0, 0.5, 0.2};

/// The values to which a model is fitted. They have mean 0 and deviation 1, so a shift or a factor of the objective
/// does not change them. Points that violate constraints lie above all feasible points, sorted by rank. Failures are
/// highest.
class ModelValues {
 public:
  /// compression: an index into `compressions`.
  ModelValues(const std::vector<Point>& points, std::size_t compression);
  const Eigen::VectorXd& values() const { return values_; }
  /// Minus the logarithm of the density of values() plus this gives minus the logarithm of the density of the values
  /// themselves. It makes compressions comparable (warped processes: Snelson, Rasmussen and Ghahramani, NIPS 2003).
  double log_stretch() const { return log_stretch_; }
  /// The objective that belongs to such a value. It has no meaning for points that violate constraints or failed.
  double objective(double value) const;

 private:
  double warped(double objective) const;
  Eigen::VectorXd values_;
  double unit_ = 1, middle_ = 0, scale_ = 0;  // of the scaling: (objective / unit_ - middle_) / scale_
  bool compressed_ = false;
  double mean_ = 0, deviation_ = 1, log_stretch_ = 0;
};

}  // namespace culmen::bayes
