// Minimizes a function with many workers on a virtual clock, without an engine.
#pragma once
#include <functional>

#include "culmen/base/random.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {

struct Timed {
  double value, duration;
};

/// Every worker that is free asks at once, and results are told as they end (NaN: as a failure), until one is `enough`
/// or the optimizer has finished. Returns when that was, or the horizon.
double run_on_clock(Optimizer& optimizer, std::size_t workers, const std::function<Timed(const Candidate&)>& measure,
                    const std::function<bool(double value)>& enough, double horizon);

using Duration = std::function<double(const std::vector<double>&, Random&)>;

/// Log-normal with median 1.
Duration log_normal(double sigma);

/// When the target was reached; the horizon where it was not. The problem's budget counts for nothing.
double time_to_target(const Problem& problem, std::uint64_t seed, std::size_t workers, const Duration& duration,
                      double horizon);

}  // namespace culmen
