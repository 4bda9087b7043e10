#include "culmen/optimizer/methods/cmaes/constants.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::cmaes {
namespace {
double effective_size(const std::vector<double>& w, double sign) {
  double sum = 0, squares = 0;
  for (const double x : w) {
    if (x * sign <= 0) continue;
    sum += x;
    squares += x * x;
  }
  return squares == 0 ? 0 : sum * sum / squares;
}

void scale(std::vector<double>& w, double positive_sum, double negative_sum) {
  double plus = 0, minus = 0;
  for (const double x : w) (x > 0 ? plus : minus) += std::abs(x);
  for (double& x : w) x *= x > 0 ? positive_sum / plus : negative_sum / minus;
}
}  // namespace

std::size_t Constants::default_population(std::size_t n) {
  return 4 + static_cast<std::size_t>(3 * std::log(static_cast<double>(n)));
}

Constants::Constants(std::size_t n_, std::size_t population_) : n(n_), population(population_) {
  const double d = static_cast<double>(n);
  const double lambda = static_cast<double>(population);
  for (std::size_t rank = 1; rank <= population; ++rank) {
    weights.push_back(std::log((lambda + 1) / 2) - std::log(static_cast<double>(rank)));
  }
  mueff = effective_size(weights, 1);
  const double mueff_minus = effective_size(weights, -1);

  cs = (mueff + 2) / (d + mueff + 5);
  damps = 1 + 2 * std::max(0.0, std::sqrt((mueff - 1) / (d + 1)) - 1) + cs;
  cc = (4 + mueff / d) / (d + 4 + 2 * mueff / d);
  c1 = 2 / ((d + 1.3) * (d + 1.3) + mueff);
  cmu = std::min(1 - c1, 2 * (0.25 + mueff + 1 / mueff - 2) / ((d + 2) * (d + 2) + mueff));

  const double rate = 1 / (4 * std::pow(d + 1, 0.75) + mueff / 2);
  c1_scaling = rate;
  cmu_scaling = std::min(1 - c1_scaling, rate * (mueff + 1 / mueff - 2 + lambda / (2 * (lambda + 5))));
  const double no_decay = 1 + c1 / cmu;
  const double by_mueff = 1 + 2 * mueff_minus / (mueff + 2);
  const double positive_definite = (1 - c1 - cmu) / (d * cmu);
  scale(weights, 1, std::min({no_decay, by_mueff, positive_definite}));
  eigen_gap = static_cast<std::size_t>(std::max(1.0, std::min(d / 10, 1 / ((c1 + cmu) * d))));
}

double expected_norm(std::size_t n) {
  const double d = static_cast<double>(n);
  return std::sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d * d));
}

}  // namespace culmen::cmaes
