#include "culmen/optimizer/automatic/probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "culmen/base/random.hpp"

namespace culmen::automatic {
namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-12;  // of the greatest value: what a sum may differ by

/// So many of n true, at random.
std::vector<char> half_of(std::size_t n, Random& random) {
  std::vector<char> out(n, 0);
  std::fill_n(out.begin(), (n + 1) / 2, 1);
  for (std::size_t i = n; i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
  return out;
}

double value_of(const Outcome& outcome) { return outcome.feasible() ? outcome.value : nan; }
}  // namespace

Probe::Probe(const Space& space, std::uint64_t seed, bool generational)
    : generational_(generational), parameters_(space.size()), start_(nan) {
  values_.fill(nan);
  Random random(seed, 3);
  points_[0] = space.start();
  std::vector<double> unit(space.size());
  for (double& u : unit) u = random.uniform();
  points_[1].resize(space.size());
  space.from_unit(unit, points_[1]);
  points_[2] = points_[0];
  points_[3] = points_[1];
  const auto half = half_of(space.size(), random);
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (half[i]) std::swap(points_[2][i], points_[3][i]);
  }
}

void Probe::hear(const std::vector<double>& x, const Outcome& outcome) {
  if (x == points_[0]) start_ = value_of(outcome);
}

void Probe::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (; n > 0 && served_ < points; --n) out.push_back({0, points_[served_++]});
}

void Probe::do_tell(EvaluationId id, const Outcome& outcome) {
  values_[id] = value_of(outcome);
  ++settled_;
}

double Probe::noise() const {
  const double change = std::abs(values_[0] - start_);
  return change > 0 ? change / std::max(std::abs(values_[0]), std::abs(start_)) : 0;
}

bool Probe::separable() const {
  const double scale = std::abs(*std::ranges::max_element(values_, {}, [](double v) { return std::abs(v); }));
  const double mixed = (values_[0] + values_[1]) - (values_[2] + values_[3]);
  const double change = std::abs(values_[0] - values_[2]) + std::abs(values_[0] - values_[3]);
  return parameters_ > 1 && noise() == 0 && change > 0 && std::abs(mixed) <= rounding * scale;
}

}  // namespace culmen::automatic
