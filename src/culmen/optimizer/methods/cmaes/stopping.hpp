// When one CMA-ES run should end.
#pragma once
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// The criteria of Hansen's tutorial (B.3) and of BIPOP (Hansen 2009): TolFun, TolX, flat fitness, stagnation,
/// NoEffectAxis, NoEffectCoord, ConditionCov, TolUpX, the generations' limit, and generations that failed as a whole.
/// All look at differences of values only, so adding a constant to the objective changes nothing but its rounding.
class Stopping {
 public:
  /// real: one flag per coordinate, whether it may converge to a point. max_evaluations: 0 for no limit.
  Stopping(const Constants& constants, std::vector<char> real, double sigma0, std::uint64_t max_evaluations);

  /// After each generation; sorted: the values of its members that did not fail, best first. True when the run is over.
  bool over(const Distribution& distribution, std::span<const double> sorted);

 private:
  void remember(std::span<const double> sorted);
  bool values_converged(std::span<const double> sorted) const;
  bool flat() const;
  bool stagnated() const;
  bool point_converged(const Distribution& d) const;
  bool step_without_effect(const Distribution& d) const;
  bool diverged(const Distribution& d) const;

  Constants constants_;
  std::vector<char> real_;
  double sigma0_;
  std::uint64_t max_generations_;
  std::size_t short_memory_, long_memory_;
  std::uint64_t generations_ = 0;
  std::size_t failed_in_a_row_ = 0;
  double scale_ = -1;  // spread of the values in the first generation
  double best_ = 0;
  std::uint64_t best_generation_ = 0;
  std::deque<double> bests_, medians_;  // the last long_memory_ generations
  std::deque<char> flats_;  // the last constants_.n + 1 generations: were the best and the quarter's last value equal?
};

}  // namespace culmen::cmaes
