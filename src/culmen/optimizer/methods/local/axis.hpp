// The least value along one parameter, over its whole range.
#pragma once
#include <optional>
#include <vector>

namespace culmen::local {

/// Brent-STEP (Baudiš and Pošík, "Global line search algorithm hybridized with quadratic interpolation and its
/// extension to separable functions", GECCO 2015). The next place is the minimum of a parabola through the best place
/// and its neighbours, as long as that promises a gain. If its steps do not get shorter, the longer side of the bracket
/// is divided instead (Brent, "Algorithms for minimization without derivatives", 1973, chapter 5). Otherwise it is the
/// middle of the interval in which the flattest parabola would fall below the best (Swarzberg, Seront and Bersini,
/// "S.T.E.P.: the easiest way to optimize a function", 1994).
///
/// Values are differences from the value of the best place, so they stay valid if a constant is added to all values.
class Axis {
 public:
  /// The best place so far.
  explicit Axis(double best, bool guarded = true) : known_{{best, 0}}, guarded_(guarded) {}
  /// A new place in [0, 1]. `rounding`: smaller gains are ignored. None: the minimum is known to all digits, or there
  /// are enough places.
  std::optional<double> next(double rounding);
  /// value: the difference from the value of the best place.
  void add(double place, double value);
  /// The place of the least value, and that value. It is below 0 until move_to_best().
  double best() const;
  double least() const;
  void move_to_best();  ///< from now on values are differences from the least one

 private:
  struct Point {
    double place, value;
  };
  std::size_t lowest() const;
  std::optional<double> by_parabola(std::size_t best, double rounding) const;
  std::optional<double> by_interval(std::size_t best) const;
  double divided(double place);

  std::vector<Point> known_;  // in order of place
  bool guarded_;
  double last_ = 1, last_but_one_ = 1;  // lengths of the steps in the bracket
};

}  // namespace culmen::local
