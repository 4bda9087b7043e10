// A search for one minimum from one start, in the unit cube: what multi-starts and portfolios are made of.
#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace culmen::local {

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// Where a search begins.
struct Start {
  Eigen::VectorXd x;            ///< in [0, 1]^n
  std::optional<double> value;  ///< there; without one it is the first point that the search proposes
  double step = 0.1;            ///< how far to try first, as a share of the box; (0, 1]
  double noise = std::numeric_limits<double>::epsilon();  ///< relative error of a value; [2.3e-16, 0.1]
  std::size_t constraints = 0;                            ///< that values come with; then there is no value here
};

/// Asks for points and hears of them, in turns: all points of a turn can be evaluated at once. It depends on its start
/// and on the values alone, so that it is restored by giving it the same values again. Adding a constant to all values
/// or multiplying them by a positive number changes rounding only. Not thread-safe.
class LocalSearch {
 public:
  virtual ~LocalSearch() = default;
  LocalSearch(const LocalSearch&) = delete;
  LocalSearch& operator=(const LocalSearch&) = delete;

  /// Appends the points that it wants to know, all in [0, 1]^n; at least one unless it is over.
  virtual void propose(std::vector<Eigen::VectorXd>& points) = 0;
  /// The values there, in the same order; infinite (or NaN) where the evaluation failed or is not feasible: it then
  /// turns back.
  virtual void digest(const std::vector<double>& values) = 0;
  /// Where there are constraints: with how far each is violated, or below 0 how far it is from that; values are finite
  /// there too. Nothing is known where that is empty. Most searches turn back where one is violated.
  virtual void digest(std::vector<double> values, const std::vector<std::vector<double>>& slacks) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!fulfilled(slacks[k])) values[k] = inf;
    }
    digest(values);
  }
  /// It has found its minimum, as exactly as values tell, or can do no more.
  virtual bool over() const = 0;

  /// The best point so far and its value; infinite before a value came of a point that fulfils the constraints.
  const Eigen::VectorXd& x() const { return x_; }
  double value() const { return value_; }

 protected:
  explicit LocalSearch(const Start& start) : x_(start.x), value_(start.value.value_or(inf)) {}
  static bool fulfilled(const std::vector<double>& slacks) {
    return std::ranges::all_of(slacks, [](double s) { return s <= 0; });
  }
  /// Keeps it if it is the best.
  void note(const Eigen::VectorXd& x, double value) {
    if (value < value_) x_ = x, value_ = value;
  }

 private:
  Eigen::VectorXd x_;
  double value_;
};

}  // namespace culmen::local
