// How long a simulated evaluation takes.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "culmen/base/ids.hpp"

namespace culmen {

enum class Distribution : unsigned char {
  constant = 0,
  exponential = 1,
  lognormal = 2,
  measured = 3,  ///< the durations of a store
};

struct DurationModel {
  Distribution distribution = Distribution::constant;
  double mean_s = 1;    ///< ≥ 0; not for `measured`
  double spread = 0.5;  ///< lognormal: standard deviation of the natural logarithm
  std::uint64_t seed = 1;
  std::vector<double> measured_s = {};  ///< by evaluation; below 0: not known
};

/// The duration of an evaluation depends on its number alone, not on the order in which workers evaluate. An
/// evaluation that `measured_s` has takes as long as there; any other one as long as one of those, by chance.
class Durations {
 public:
  /// Throws InputError for a mean or a spread below 0 or not finite, and without a measured duration if they are
  /// needed.
  explicit Durations(DurationModel model);
  double of(EvaluationId evaluation, Attempt attempt) const;
  double mean_s() const { return model_.mean_s; }

 private:
  DurationModel model_;
  std::vector<double> known_s_;
};

}  // namespace culmen
