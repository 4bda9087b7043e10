#include "culmen/optimizer/methods/local/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace culmen::local {
namespace {
constexpr std::size_t most_known = 300;
constexpr double sigma = 2;  // of the critical distance
}  // namespace

Samples::Samples(std::size_t dimensions, std::uint64_t seed)
    : dimensions_(static_cast<Eigen::Index>(dimensions)), random_(seed, 1) {
  if (dimensions <= SobolSequence::most_dimensions) sequence_.emplace(dimensions, seed);
}

Eigen::VectorXd Samples::fresh() {
  Eigen::VectorXd x(dimensions_);
  if (sequence_) sequence_->next({x.data(), static_cast<std::size_t>(x.size())});
  else std::ranges::generate(x, [this] { return random_.uniform(); });
  return x;
}

void Samples::add(const Eigen::VectorXd& x, double value) {
  ++count_;
  if (std::isfinite(value)) keep({x, value, false});
}

void Samples::add_minimum(const Eigen::VectorXd& x, double value) {
  if (std::isfinite(value)) keep({x, value, true});
}

void Samples::keep(Sample sample) {
  known_.insert(std::ranges::upper_bound(known_, sample.value, {}, &Sample::value), std::move(sample));
  if (known_.size() > most_known) known_.pop_back();
}

double Samples::critical_distance() const {
  const double d = static_cast<double>(dimensions_), k = static_cast<double>(std::max<std::uint64_t>(count_, 2));
  const double log_volume = std::lgamma(1 + d / 2) + std::log(sigma * std::log(k) / k);
  return std::exp(log_volume / d) / std::sqrt(std::numbers::pi);
}

std::optional<Sample> Samples::take(bool anyway) {
  const double distance = critical_distance();
  auto chosen = known_.end(), left = known_.end();
  for (auto i = known_.begin(); i != known_.end() && chosen == known_.end(); ++i) {
    if (i->used) continue;
    if (left == known_.end()) left = i;
    const bool crowded = std::any_of(known_.begin(), i, [&](const Sample& better) {
      return better.value < i->value && (better.x - i->x).norm() < distance;
    });
    if (!crowded) chosen = i;
  }
  if (chosen == known_.end() && anyway) chosen = left;
  if (chosen == known_.end()) return std::nullopt;
  chosen->used = true;
  return *chosen;
}

}  // namespace culmen::local
