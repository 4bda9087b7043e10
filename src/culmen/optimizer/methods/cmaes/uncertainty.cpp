#include "culmen/optimizer/methods/cmaes/uncertainty.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
constexpr std::size_t interval = 2;  // generations
constexpr double share = 0.1;        // of the members
constexpr double strictness = 0.2;   // θ of the paper
constexpr double memory = 0.3;       // of the newest measure
constexpr std::size_t window = 10;   // generations whose values are compared with those before

double median_of(std::vector<double> v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::ranges::nth_element(v, middle);
  return *middle;
}

/// Percentile θ/2 of the rank changes from `rank` that random ranks among `count` values would give.
double change_limit(double rank, std::size_t count) {
  std::vector<double> changes;
  for (std::size_t r = 1; r < count; ++r) changes.push_back(std::abs(static_cast<double>(r) - rank));
  std::ranges::sort(changes);
  return changes[static_cast<std::size_t>(strictness / 2 * static_cast<double>(changes.size() - 1))];
}

/// 1 for the least value; equal values share the lowest rank.
double rank_of(double value, const std::vector<double>& values) {
  return 1 + static_cast<double>(std::ranges::count_if(values, [value](double v) { return v < value; }));
}

double excess(double first, double second, const std::vector<double>& values) {
  const double a = rank_of(first, values) - (first > second ? 1 : 0);
  const double b = rank_of(second, values) - (second > first ? 1 : 0);
  return 2 * std::abs(a - b) - change_limit(a, values.size()) - change_limit(b, values.size());
}
}  // namespace

std::size_t Uncertainty::begin_generation(std::size_t members) {
  const bool due = noise_ == Noise::on ? generation_ % interval == 0 : noise_ == Noise::automatic && !decided_;
  ++generation_;
  const double wanted = noise_ == Noise::on ? std::round(share * static_cast<double>(members)) : 1;
  second_.assign(due ? std::max<std::size_t>(1, static_cast<std::size_t>(wanted)) : 0, std::nullopt);
  return second_.size();
}

void Uncertainty::end_generation(std::vector<std::optional<Standing>>& members) {
  std::vector<double> values;  // each member's twice
  const auto counts = [&](std::size_t k) {
    return k < second_.size() && members[k] && members[k]->ok() && second_[k] && second_[k]->ok();
  };
  for (std::size_t k = 0; k < members.size(); ++k) {
    if (!members[k] || !members[k]->ok()) continue;
    values.push_back(members[k]->value);
    values.push_back(counts(k) ? second_[k]->value : members[k]->value);
  }
  double sum = 0;
  std::size_t measured = 0;
  for (std::size_t k = 0; k < second_.size(); ++k) {
    if (!counts(k)) continue;
    const double first = members[k]->value, second = second_[k]->value;
    if (noise_ == Noise::automatic) {
      decided_ = true;
      if (first != second) noise_ = Noise::on;
    }
    sum += excess(first, second, values);
    ++measured;
    if (first != second) members[k]->value = first + (second - first) / 2;
  }
  if (noise_ != Noise::on || values.empty()) return;
  medians_.push_back(median_of(std::move(values)));
  if (medians_.size() > 2 * window) medians_.pop_front();
  if (measured == 0) return;
  measure_ += memory * (sum / static_cast<double>(measured) - measure_);
  in_a_row_ = measure_ > 0 ? in_a_row_ + 1 : 0;
}

bool Uncertainty::dominates() const {
  if (in_a_row_ < patience || medians_.size() < 2 * window) return false;
  const auto middle = medians_.begin() + static_cast<std::ptrdiff_t>(window);
  return median_of({middle, medians_.end()}) >= median_of({medians_.begin(), middle});
}

}  // namespace culmen::cmaes
