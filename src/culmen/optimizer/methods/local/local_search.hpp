// A search for one minimum from one start, in the unit cube. Multi-starts and portfolios consist of such searches.
#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "culmen/optimizer/core/terms.hpp"

namespace culmen::local {

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// The starting point of a search.
struct Start {
  Eigen::VectorXd x;            ///< in [0, 1]^n
  std::optional<double> value;  ///< at x; if there is none, x is the first point that the search proposes
  double step = 0.1;            ///< the first step to try, as a share of the box; (0, 1]
  double noise = std::numeric_limits<double>::epsilon();  ///< relative error of a value; [2.3e-16, 0.1]
  std::size_t constraints = 0;  ///< number of constraints that come with each value; if > 0, `value` is empty
  Edition edition = newest_edition;
};

/// Proposes points and receives their values, in turns: all points of a turn can be evaluated in parallel. It depends
/// only on its start and on the values, so the same values restore it. Adding a constant to all values or multiplying
/// them by a positive number changes rounding only. Not thread-safe.
class LocalSearch {
 public:
  virtual ~LocalSearch() = default;
  LocalSearch(const LocalSearch&) = delete;
  LocalSearch& operator=(const LocalSearch&) = delete;

  /// Appends the points to evaluate, all in [0, 1]^n; at least one unless it is over.
  virtual void propose(std::vector<Eigen::VectorXd>& points) = 0;
  /// The values of these points, in the same order. Infinite or NaN: the evaluation failed or is not feasible; the
  /// search then turns back.
  virtual void digest(const std::vector<double>& values) = 0;
  /// The same with constraints. `slacks`: how far each constraint is violated; negative: the distance from a violation.
  /// It is empty if nothing is known. Values of infeasible points are finite too. Most searches turn back at a
  /// violation.
  virtual void digest(std::vector<double> values, const std::vector<std::vector<double>>& slacks) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!fulfilled(slacks[k])) values[k] = inf;
    }
    digest(values);
  }
  /// True if it has found its minimum as exactly as values allow, or cannot continue.
  virtual bool over() const = 0;

  /// The best point so far and its value. The value is infinite until a feasible point had one.
  const Eigen::VectorXd& x() const { return x_; }
  double value() const { return value_; }

 protected:
  explicit LocalSearch(const Start& start) : x_(start.x), value_(start.value.value_or(inf)) {}
  static bool fulfilled(const std::vector<double>& slacks) {
    return std::ranges::all_of(slacks, [](double s) { return s <= 0; });
  }
  /// Keeps the point if it is the best.
  void note(const Eigen::VectorXd& x, double value) {
    if (value < value_) x_ = x, value_ = value;
  }

 private:
  Eigen::VectorXd x_;
  double value_;
};

}  // namespace culmen::local
