#include "culmen/optimizer/methods/de/variation.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::de {
namespace {
constexpr double elite_share = 0.2;  // of the population
constexpr double any_choice = 0.1;   // the probability that a trial gets one of its choices at random
}  // namespace

struct Variation::Parents {
  const Point &own, &elite, &first, &second;
};

Variation::Variation(const Space& space) {
  for (const auto& p : space.parameters()) {
    const bool unordered = p.kind == ParameterKind::categorical || p.kind == ParameterKind::boolean;
    cells_.push_back(unordered ? p.cells() : 0);
    choices_ += unordered ? 1 : 0;
  }
}

Point Variation::anywhere(Random& random) const {
  Point x(cells_.size());
  for (double& u : x) u = random.uniform();
  return x;
}

Point Variation::trial(const Population& population, const Archive& archive, std::size_t place,
                       const Strategy& strategy, Random& random) const {
  const auto& order = population.order();
  const auto elite = static_cast<std::size_t>(std::round(elite_share * static_cast<double>(order.size())));
  const auto pbest = order[random.below(std::max<std::size_t>(2, elite))];
  std::size_t first = 0, second = 0;
  do first = order[random.below(order.size())];
  while (first == place);
  do second = random.below(order.size() + archive.size());
  while (second < order.size() && (order[second] == place || order[second] == first));
  const Parents parents{population.at(place), population.at(pbest), population.at(first),
                        second < order.size() ? population.at(order[second]) : archive[second - order.size()]};
  Point x = parents.own;
  const auto sure = random.below(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i != sure && random.uniform() >= strategy.crossover) continue;
    x[i] = cells_[i] > 0 ? choice(parents, i, strategy.factor, random) : number(parents, i, strategy.factor);
  }
  return x;
}

double Variation::number(const Parents& parents, std::size_t i, double factor) const {
  const double own = parents.own[i];
  const double mutant = own + factor * (parents.elite[i] - own) + factor * (parents.first[i] - parents.second[i]);
  return mutant < 0 ? own / 2 : mutant > 1 ? (own + 1) / 2 : mutant;
}

double Variation::choice(const Parents& parents, std::size_t i, double factor, Random& random) const {
  if (random.uniform() < any_choice / choices_) return random.uniform();
  const auto cell = [&](double u) { return std::floor(u * cells_[i]); };
  if (cell(parents.first[i]) != cell(parents.second[i]) && random.uniform() < factor) return parents.first[i];
  return random.uniform() < factor ? parents.elite[i] : parents.own[i];
}

}  // namespace culmen::de
