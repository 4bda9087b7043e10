#include "culmen/optimizer/methods/racing/field.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/optimizer/parts/lattice.hpp"
#include "culmen/optimizer/parts/levels.hpp"

namespace culmen::racing {
namespace {
constexpr double most_cells = 1e5;  // conditions may leave few of them
constexpr std::size_t tries_each = 100;
}  // namespace

std::optional<std::vector<std::vector<double>>> all_points(const Space& space, std::size_t candidates) {
  double cells = 1, most = 2;
  for (const auto& p : space.parameters()) {
    if (!p.discrete()) return std::nullopt;
    cells *= p.cells();
    most = std::max(most, p.cells());
  }
  if (cells > (space.conditional() ? most_cells : static_cast<double>(candidates))) return std::nullopt;
  const Lattice all(space, levels_of(space, static_cast<std::size_t>(most)));
  std::vector<std::vector<double>> points;
  for (std::uint64_t k = 0; k < all.size() && points.size() <= candidates; ++k)
    if (auto x = all.at(k)) points.push_back(std::move(*x));
  if (points.size() > candidates) return std::nullopt;
  return points;
}

Field::Field(const Space& space, std::uint64_t seed, std::size_t races) : space_(space), races_(races), random_(seed) {
  if (space.size() <= SobolSequence::most_dimensions) sobol_.emplace(space.size(), seed);
}

void Field::fill(std::vector<std::vector<double>>& points, std::size_t size, std::size_t race) {
  const auto elites = points;
  const double step = std::pow(static_cast<double>(size), -1 / static_cast<double>(space_.size()));
  const double deviation = 0.5 * std::pow(step, static_cast<double>(race));
  const double keep = static_cast<double>(race) / static_cast<double>(races_);
  for (std::size_t tries = tries_each * size; tries > 0 && points.size() < size; --tries) {
    auto x = race == 0 || elites.empty() ? anywhere() : about(elites[parent(elites.size())], deviation, keep);
    const bool wanted = space_.feasible(x) || (points.empty() && tries == 1);
    if (wanted && std::ranges::find(points, x) == points.end()) points.push_back(std::move(x));
  }
}

std::vector<double> Field::anywhere() {
  std::vector<double> x(space_.size());
  if (sobol_) sobol_->next(x);
  else std::ranges::generate(x, [&] { return random_.uniform(); });
  space_.from_unit(x, x);
  return x;
}

std::vector<double> Field::about(const std::vector<double>& elite, double deviation, double keep) {
  std::vector<double> unit(elite.size());
  space_.to_unit(elite, unit);
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (space_[i].is_choice()) {
      if (random_.uniform() >= keep) unit[i] = random_.uniform();
      continue;
    }
    const double middle = unit[i];
    do unit[i] = middle + deviation * random_.normal();
    while (unit[i] < 0 || unit[i] > 1);
  }
  space_.from_unit(unit, unit);
  return unit;
}

/// One of n elites; the r-th (from 0) has a probability proportional to n - r.
std::size_t Field::parent(std::size_t elites) {
  auto ticket = random_.below(elites * (elites + 1) / 2);
  std::size_t r = 0;
  for (auto weight = elites; ticket >= weight; --weight, ++r) ticket -= weight;
  return r;
}

}  // namespace culmen::racing
