// The least value along one parameter through its whole range.
#pragma once
#include <optional>
#include <vector>

namespace culmen::local {

/// Brent-STEP (Baudiš and Pošík, "Global line search algorithm hybridized with quadratic interpolation and its
/// extension to separable functions", GECCO 2015): the next place is where a parabola through the best place and its
/// neighbours is least, as long as that promises a gain; else the middle of the interval in which the flattest parabola
/// would come below the best (Swarzberg, Seront and Bersini, "S.T.E.P.: the easiest way to optimize a function", 1994).
///
/// Values are differences from that of the best place, so they stay true when something is added to them all.
class Axis {
 public:
  /// The best place so far.
  explicit Axis(double best) : known_{{best, 0}} {}
  /// In [0, 1], not known yet; `rounding`: gains below it are nothing. None: it is known to all digits, or enough
  /// places are.
  std::optional<double> next(double rounding) const;
  /// A value, less that of the best place.
  void add(double place, double value);
  /// The place of the least value, and that value: below 0 until it is moved there.
  double best() const;
  double least() const;
  void move_to_best();  ///< values are differences from the least from now on

 private:
  struct Point {
    double place, value;
  };
  std::size_t lowest() const;
  std::optional<double> by_parabola(std::size_t best, double rounding) const;
  std::optional<double> by_interval(std::size_t best) const;

  std::vector<Point> known_;  // by place
};

}  // namespace culmen::local
