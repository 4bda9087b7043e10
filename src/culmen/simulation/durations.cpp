#include "culmen/simulation/durations.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "culmen/base/error.hpp"
#include "culmen/base/random.hpp"

namespace culmen {
namespace {
constexpr std::uint64_t stream = 0x6475726174696f6e;

void check(double number, const char* name) {
  if (!(number >= 0) || std::isinf(number))
    throw InputError(
        fmt::format("the {} of simulated evaluations must be at least 0 and finite, got {}", name, number));
}
}  // namespace

Durations::Durations(DurationModel model) : model_(std::move(model)) {
  if (model_.distribution != Distribution::measured) {
    check(model_.mean_s, "duration");
    check(model_.spread, "spread");
    return;
  }
  for (const double s : model_.measured_s)
    if (s >= 0) known_s_.push_back(s);
  if (known_s_.empty()) throw InputError("there is no measured duration; give the duration of an evaluation");
  model_.mean_s = std::accumulate(known_s_.begin(), known_s_.end(), 0.0) / static_cast<double>(known_s_.size());
}

double Durations::of(EvaluationId evaluation, Attempt attempt) const {
  const auto& m = model_;
  if (m.distribution == Distribution::constant) return m.mean_s;
  if (attempt == 0 && evaluation < m.measured_s.size() && m.measured_s[evaluation] >= 0)
    return m.measured_s[evaluation];
  Random random(m.seed + stream * (attempt + 1), evaluation);
  if (m.distribution == Distribution::exponential) return -m.mean_s * std::log1p(-random.uniform());
  if (m.distribution == Distribution::lognormal)
    return m.mean_s * std::exp(m.spread * random.normal() - m.spread * m.spread / 2);
  return known_s_[random.below(known_s_.size())];
}

}  // namespace culmen
