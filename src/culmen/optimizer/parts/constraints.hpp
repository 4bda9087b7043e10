// Constraints and limits of candidates, as numbers.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "culmen/evaluation/judge.hpp"
#include "culmen/optimizer/core/terms.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// The limits of a study's figures, and the constraints of its space where what violates them is evaluated too.
class Constraints {
 public:
  Constraints(const Space& space, const Yield& yield);

  /// 0: there are none, or the space has conditions.
  std::size_t count() const { return count_; }
  /// By how much each is violated at x, or below 0 how far it is from that. Empty where the outcome is not ok or a
  /// figure, or its value, is not finite.
  std::vector<double> slacks(std::span<const double> x, const Outcome& outcome) const;

 private:
  Space space_;
  Judge judge_;
  bool of_space_;
  std::size_t count_ = 0;
};

}  // namespace culmen
