#include "culmen/optimizer/parts/genetic_variation.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {
namespace {
constexpr double crossover_eta = 15, mutation_eta = 20;
constexpr double crossed_pairs = 0.9, crossed_parameters = 0.5;

/// The factor of the distance, if the nearest bound allows `most`.
double spread(double most, double eta, double u) {
  const double alpha = 2 - std::pow(most, -(eta + 1));
  const double share = u * alpha;
  return std::pow(share <= 1 ? share : 1 / (2 - share), 1 / (eta + 1));
}
}  // namespace

double middle_of_cell(const Parameter& p, double u) {
  const double cells = p.cells();
  return (std::min(std::floor(u * cells), cells - 1) + 0.5) / cells;
}

std::pair<double, double> crossed(double a, double b, double eta, double u) {
  const double distance = b - a, sum = a + b;
  if (!(distance > 0)) return {a, b};
  const double below = sum - spread(1 + 2 * a / distance, eta, u) * distance;
  const double above = sum + spread(1 + 2 * (1 - b) / distance, eta, u) * distance;
  return {std::clamp(below / 2, 0.0, 1.0), std::clamp(above / 2, 0.0, 1.0)};
}

double mutated(double y, double eta, double u) {
  const auto root = [&](double v) { return std::pow(v, 1 / (eta + 1)); };
  const double moved = u < 0.5 ? y + root(2 * u + (1 - 2 * u) * std::pow(1 - y, eta + 1)) - 1
                               : y + 1 - root(2 * (1 - u) + (2 * u - 1) * std::pow(y, eta + 1));
  return std::clamp(moved, 0.0, 1.0);
}

std::pair<std::vector<double>, std::vector<double>> GeneticVariation::children(const std::vector<double>& a,
                                                                               const std::vector<double>& b,
                                                                               Random& random) const {
  std::pair<std::vector<double>, std::vector<double>> out{a, b};
  if (random.uniform() < crossed_pairs) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (random.uniform() < crossed_parameters) cross(i, out.first[i], out.second[i], random);
    }
  }
  mutate(out.first, random);
  mutate(out.second, random);
  return out;
}

void GeneticVariation::cross(std::size_t i, double& a, double& b, Random& random) const {
  if (space_[i].is_choice()) return std::swap(a, b);
  const auto [below, above] = crossed(std::min(a, b), std::max(a, b), crossover_eta, random.uniform());
  const bool exchanged = random.next() % 2 == 0;
  a = exchanged ? above : below;
  b = exchanged ? below : above;
  if (!space_[i].discrete()) return;
  a = middle_of_cell(space_[i], a);
  b = middle_of_cell(space_[i], b);
}

void GeneticVariation::mutate(std::vector<double>& child, Random& random) const {
  for (std::size_t i = 0; i < child.size(); ++i) {
    if (random.uniform() * static_cast<double>(child.size()) < 1) child[i] = changed(i, child[i], random);
  }
}

double GeneticVariation::changed(std::size_t i, double y, Random& random) const {
  const auto& p = space_[i];
  if (p.is_choice()) {
    const auto cells = static_cast<std::uint64_t>(p.cells());
    const auto own = static_cast<std::uint64_t>(y * p.cells());
    const auto other = (own + 1 + random.below(cells - 1)) % cells;
    return (static_cast<double>(other) + 0.5) / p.cells();
  }
  const double moved = mutated(y, mutation_eta, random.uniform());
  if (!p.discrete()) return moved;
  const double step = 1 / p.cells();
  const double least = moved < y ? y - step : y + step;
  const bool stays = std::abs(moved - y) < step / 2;
  return middle_of_cell(p, std::clamp(stays ? least : moved, 0.0, 1.0));
}

}  // namespace culmen
