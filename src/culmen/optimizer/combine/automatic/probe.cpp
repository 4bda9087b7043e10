#include "culmen/optimizer/combine/automatic/probe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace culmen::automatic {
namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = 1e-12;   // of the greatest value: the rounding error allowed for a sum
constexpr double noticeable = 0.01;  // of a change by one half: an interaction of this size is visible above rounding

double value_of(const Outcome& outcome) { return outcome.feasible() ? outcome.value : nan; }
}  // namespace

Probe::Probe(const Space& space, std::uint64_t seed, Mode mode)
    : space_(space), mode_(mode), random_(seed, 3), places_(space.size()), first_(nan) {
  std::iota(places_.begin(), places_.end(), 0);
  for (std::size_t i = space.size(); i > 1; --i) std::swap(places_[i - 1], places_[random_.below(i)]);
}

void Probe::hear(const std::vector<double>& x, const Outcome& outcome) {
  if (!points_.empty() || !std::isfinite(value_of(outcome))) return;
  first_ = outcome.value;
  Point other(space_.size());
  for (double& u : other) u = random_.uniform();
  space_.from_unit(other, other);
  points_ = {x, std::move(other)};
  add_mixtures(0);
}

void Probe::add_mixtures(std::size_t half) {
  auto a = points_[0], b = points_[1];
  for (std::size_t i = 0; i < a.size(); ++i) {
    if ((places_[i] >> half) % 2 == 0) std::swap(a[i], b[i]);
  }
  points_.push_back(std::move(a));
  points_.push_back(std::move(b));
  values_.resize(points_.size(), nan);
  ++halves_;
}

void Probe::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (; n > 0 && wants(); --n) out.push_back({0, points_[served_++]});
}

void Probe::settle(EvaluationId id, const Outcome& outcome) {
  values_[id] = value_of(outcome);
  ++settled_;
  if (settled_ < points_.size() || halves_ > 1 || !separable()) return;
  const std::size_t bits = std::bit_width(space_.size() - 1);
  while (halves_ < bits) add_mixtures(halves_);
}

double Probe::noise() const {
  const double change = std::abs(values_[0] - first_);
  return change > 0 ? change / std::max(std::abs(values_[0]), std::abs(first_)) : 0;
}

bool Probe::separable() const {
  if (space_.size() < 2 || noise() > rounding) return false;
  for (std::size_t half = 0; half < halves_; ++half) {
    if (!sums(half)) return false;
  }
  return true;
}

bool Probe::sums(std::size_t half) const {
  const double a = values_[0], b = values_[1], c = values_[2 + 2 * half], d = values_[3 + 2 * half];
  const double greatest = std::max({std::abs(a), std::abs(b), std::abs(c), std::abs(d)});
  const double least_change = std::min(std::abs(a - c), std::abs(a - d));
  return std::abs((a + b) - (c + d)) <= rounding * greatest && rounding * greatest <= noticeable * least_change &&
         least_change > 0;
}

}  // namespace culmen::automatic
