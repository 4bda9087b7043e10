#include "culmen/optimizer/methods/de/memory.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace culmen::de {
namespace {
constexpr double scale = 0.1;
constexpr double terminal = -1;

/// Σ w s² / Σ w s; 0 if every s is 0.
template <typename Member>
double lehmer_mean(const std::vector<Memory::Success>& successes, double greatest, Member member) {
  double squares = 0, sum = 0;
  for (const auto& s : successes) {
    const double weight = s.gain > 0 ? s.gain / greatest : 1, value = s.strategy.*member;
    squares += weight * value * value;
    sum += weight * value;
  }
  return sum > 0 ? squares / sum : 0;
}
}  // namespace

Strategy Memory::draw(Random& random) const {
  const auto& mean = means_[random.below(means_.size())];
  Strategy out{};
  out.crossover = mean.crossover < 0 ? 0 : std::clamp(mean.crossover + scale * random.normal(), 0.0, 1.0);
  do out.factor = mean.factor + scale * std::tan(std::numbers::pi * (random.uniform() - 0.5));
  while (out.factor <= 0);
  out.factor = std::min(out.factor, 1.0);
  return out;
}

void Memory::learn(const std::vector<Success>& successes) {
  if (successes.empty()) return;
  const double greatest = std::ranges::max(successes, {}, &Success::gain).gain;
  const double crossover = lehmer_mean(successes, greatest, &Strategy::crossover);
  auto& mean = means_[oldest_];
  oldest_ = (oldest_ + 1) % means_.size();
  mean.factor = lehmer_mean(successes, greatest, &Strategy::factor);
  mean.crossover = mean.crossover < 0 || crossover == 0 ? terminal : crossover;
}

}  // namespace culmen::de
