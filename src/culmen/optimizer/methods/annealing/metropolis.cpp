#include "culmen/optimizer/methods/annealing/metropolis.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::annealing {
namespace {
constexpr unsigned cycles_until_hot = 5;
constexpr std::uint64_t first_cycle_per_parameter = 100, longest_cycle = 1 << 24;
}  // namespace

bool accepts(const Standing& next, const Standing& now, double temperature, double u) {
  if (!now.better_than(next)) return true;
  if (!next.ok() || !now.ok() || !(temperature > 0)) return false;
  return u < std::exp((now.value - next.value) / temperature);
}

bool exchanges(const Standing& cold, const Standing& hot, double cold_temperature, double hot_temperature, double u) {
  if (!cold.better_than(hot)) return true;
  if (!cold.ok() || !hot.ok() || !(cold_temperature > 0)) return false;
  return u < std::exp((cold.value - hot.value) * (1 / cold_temperature - 1 / hot_temperature));
}

void Spread::add(double value) {
  if (values_.size() == most) {
    if (spread_ > 0) return;
    values_.erase(values_.begin());
  }
  values_.push_back(value);
  auto sorted = values_;
  std::ranges::sort(sorted);
  spread_ = sorted[sorted.size() / 2] - sorted.front();
}

Cooling::Cooling(std::size_t parameters, std::uint64_t evaluations)
    : length_(evaluations > 0 ? (evaluations + 2) / 3 : first_cycle_per_parameter * (parameters + 1)) {}

bool Cooling::step() {
  if (++passed_ < length_) return false;
  passed_ = 0;
  ++cycle_;
  length_ = std::max(length_, std::min(2 * length_, longest_cycle));
  return true;
}

double Cooling::share() const {
  const double first = std::pow(0.1, cycle_ % cycles_until_hot);
  return first * std::pow(last_share / first, static_cast<double>(passed_) / static_cast<double>(length_));
}

}  // namespace culmen::annealing
