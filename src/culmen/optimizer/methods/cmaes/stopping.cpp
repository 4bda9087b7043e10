#include "culmen/optimizer/methods/cmaes/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
constexpr double tolerance_value = 1e-12;
constexpr double tolerance_point = 1e-12;  // over sigma0
constexpr double tolerance_up = 1e3;       // over sigma0
constexpr double axis_ratio_limit = 1e7;   // a condition number of 1e14
constexpr std::size_t failed_limit = 10;

template <typename Values>
void keep_last(Values& values, typename Values::value_type value, std::size_t n) {
  values.push_back(value);
  if (values.size() > n) values.pop_front();
}

template <typename Iterator>
double median(Iterator begin, Iterator end) {
  std::vector<double> v(begin, end);
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

template <typename Values>
bool newer_half_is_no_better(const Values& v) {
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  return median(middle, v.end()) >= median(v.begin(), middle);
}
}  // namespace

Stopping::Stopping(const Constants& constants, std::vector<char> real, double sigma0, std::uint64_t max_evaluations)
    : constants_(constants), real_(std::move(real)), sigma0_(sigma0) {
  const double n = static_cast<double>(constants_.n), lambda = static_cast<double>(constants_.population);
  max_generations_ = static_cast<std::uint64_t>(100 + 150 * (n + 3) * (n + 3) / std::sqrt(lambda));
  if (max_evaluations > 0)
    max_generations_ =
        std::min<std::uint64_t>(max_generations_, std::max<std::uint64_t>(1, max_evaluations / constants_.population));
  short_memory_ = static_cast<std::size_t>(10 + std::ceil(30 * n / lambda));
  long_memory_ = static_cast<std::size_t>(100 + 100 * std::pow(n, 1.5) / lambda);
}

bool Stopping::over(const Distribution& d, std::span<const double> sorted) {
  ++generations_;
  if (generations_ >= max_generations_) return true;
  failed_in_a_row_ = sorted.empty() ? failed_in_a_row_ + 1 : 0;
  if (sorted.empty()) return failed_in_a_row_ >= failed_limit;
  remember(sorted);
  return !d.healthy() || values_converged(sorted) || flat() || stagnated() || point_converged(d) ||
         step_without_effect(d) || diverged(d);
}

void Stopping::remember(std::span<const double> sorted) {
  if (scale_ < 0) {
    scale_ = sorted.back() - sorted.front();
    best_ = sorted.front();
  }
  if (sorted.front() < best_) {
    best_ = sorted.front();
    best_generation_ = generations_;
  }
  keep_last(bests_, sorted.front(), std::max(short_memory_, long_memory_));
  keep_last(medians_, sorted[sorted.size() / 2], std::max(short_memory_, long_memory_));
  keep_last(flats_, sorted.front() == sorted[sorted.size() * 3 / 4], short_memory_);
}

bool Stopping::values_converged(std::span<const double> sorted) const {
  if (bests_.size() < short_memory_) return false;
  const double tolerance = tolerance_value * std::min(1.0, scale_);
  const auto [low, high] = std::minmax_element(bests_.end() - static_cast<std::ptrdiff_t>(short_memory_), bests_.end());
  return *high - *low <= tolerance && sorted.back() - sorted.front() <= tolerance;
}

bool Stopping::flat() const {
  return flats_.size() == short_memory_ && static_cast<std::size_t>(std::ranges::count(flats_, 1)) * 3 > short_memory_;
}

bool Stopping::stagnated() const {
  const std::size_t n = constants_.n, lambda = constants_.population;
  if (bests_.size() < long_memory_ || generations_ <= n * (5 + 100 / lambda) || generations_ % 10 != 0) return false;
  if (generations_ - best_generation_ <= long_memory_ / 2) return false;
  return newer_half_is_no_better(bests_) && newer_half_is_no_better(medians_);
}

bool Stopping::point_converged(const Distribution& d) const {
  bool any = false;
  for (std::size_t i = 0; i < real_.size(); ++i) {
    if (!real_[i]) continue;
    if (std::max(d.deviation(i), std::abs(d.path(i))) > tolerance_point * sigma0_) return false;
    any = true;
  }
  return any;
}

bool Stopping::step_without_effect(const Distribution& d) const {
  for (std::size_t i = 0; i < real_.size(); ++i) {
    const double m = d.mean()[static_cast<Eigen::Index>(i)];
    if (m == m + 0.2 * d.deviation(i)) return true;
  }
  return d.mean() == d.mean() + 0.1 * d.axis(d.generation() % constants_.n);
}

bool Stopping::diverged(const Distribution& d) const {
  if (d.axis_ratio() > axis_ratio_limit) return true;
  for (std::size_t i = 0; i < real_.size(); ++i) {
    if (d.deviation(i) > tolerance_up * sigma0_) return true;
  }
  return false;
}

}  // namespace culmen::cmaes
