// The size of a trust region, by success and failure (TuRBO: Eriksson, Pearce, Gardner, Turner and Poloczek, 2019).
#pragma once
#include <algorithm>
#include <cstddef>

namespace culmen::bayes {

class Region {
 public:
  /// patience: failures in a row before it shrinks.
  explicit Region(std::size_t patience) : patience_(patience) {}
  /// The side length, as a share of the unit cube's.
  double side() const { return side_; }
  bool spent() const { return side_ < least_side; }
  void note(bool success) {
    successes_ = success ? successes_ + 1 : 0;
    failures_ = success ? 0 : failures_ + 1;
    if (successes_ == successes_to_grow) resize(std::min(2 * side_, most_side));
    else if (failures_ == patience_) resize(side_ / 2);
  }

 private:
  static constexpr double most_side = 1.6, least_side = 1e-6;
  static constexpr std::size_t successes_to_grow = 3;
  void resize(double side) {
    side_ = side;
    successes_ = failures_ = 0;
  }
  std::size_t patience_, successes_ = 0, failures_ = 0;
  double side_ = 0.4;
};

}  // namespace culmen::bayes
