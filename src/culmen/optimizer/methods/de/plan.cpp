#include "culmen/optimizer/methods/de/plan.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::de {
namespace {
constexpr double growth = 1.5;            // factor from one run's population to the next
constexpr unsigned growing_runs = 9;      // then the first population size comes again
constexpr std::size_t fewest_of_all = 4;  // a trial needs this many
constexpr double generations = 200;       // of the first size, that a run plans with

std::size_t grown(std::size_t population, unsigned run) {
  return static_cast<std::size_t>(std::round(static_cast<double>(population) * std::pow(growth, run % growing_runs)));
}
}  // namespace

Plan::Plan(const Sizes& sizes, unsigned run, std::size_t least, std::uint64_t left)
    : population_(std::max({grown(sizes.first, run), least, fewest_of_all})),
      fewest_(std::clamp(sizes.fewest, fewest_of_all, population_)),
      planned_(generations * static_cast<double>(population_)) {
  if (left > 0) planned_ = std::min(planned_, static_cast<double>(left));
}

std::size_t Plan::population_at(std::uint64_t used) const {
  const double share = std::min(1.0, static_cast<double>(used) / planned_);
  return population_ - static_cast<std::size_t>(std::round(share * static_cast<double>(population_ - fewest_)));
}

}  // namespace culmen::de
