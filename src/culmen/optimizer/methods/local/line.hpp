// One search along a line.
#pragma once
#include <limits>
#include <optional>
#include <vector>

namespace culmen::local {

/// The least value along a ray from 0, where value and slope are known. It uses parabolas inside brackets and growing
/// steps beyond (Nocedal and Wright, "Numerical Optimization", 2006, section 3.5). The steps of a turn can be evaluated
/// in parallel.
class Line {
 public:
  struct Rules {
    int fan = 1;         ///< steps of the first turn: the first step, and shares and multiples of it
    double worth = 0.1;  ///< a further step must promise this share of the gain so far
    int most_turns = 15;
    bool guarded = false;  ///< a steep rise at the end of a bracket does not hide that values fall at the best step
    double limit = std::numeric_limits<double>::infinity();  ///< a step known to be too long, if guarded
  };
  /// slope must be < 0.
  Line(double value, double slope, double first, const Rules& rules);

  /// The steps to try next; empty: the search is over.
  const std::vector<double>& steps() const { return steps_; }
  /// The values at steps(); infinite if the evaluation failed.
  void digest(const std::vector<double>& values);
  bool over() const { return steps_.empty(); }
  /// The best step and its value; 0 if nothing is better than the beginning.
  double best() const { return best_step_; }
  double best_value() const { return best_value_; }
  /// The least step that was longer than the best one, and worse; infinite if there is none.
  double too_long() const;

 private:
  struct Point {
    double step, value;
  };
  struct Model {
    double step, gain;  // the place of its minimum, and how far it is below the best value
  };
  std::vector<double> next() const;
  void drop_void_steps();
  std::optional<Model> from_slope(const Point& p) const;
  static std::optional<Model> from_bracket(const Point& low, const Point& best, const Point& high);
  double slope_at(const Point& best, const Point& low) const;
  std::vector<double> towards(double end, const Point& best, double slope) const;
  std::vector<double> back(const Point& nearest) const;

  double value_, slope_;
  Rules rules_;
  std::vector<Point> known_;  // in order of step, including 0
  std::vector<double> steps_;
  double best_step_ = 0, best_value_;
  int turns_ = 0;
};

}  // namespace culmen::local
