#include "culmen/optimizer/methods/evolution/variation.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/optimizer/parts/mutation.hpp"

namespace culmen::evolution {
namespace {
constexpr double crossed_share = 0.6;  // of children that have two parents
constexpr double least_deviation = 1e-15, most_deviation = 0.5;
constexpr double most_change = 0.5;
constexpr double least_whole_step = 0.3;  // so that reals also vary while the integers stay the same
constexpr double own_share = 0.3;  // of the rate at which reals' steps differ; selection is too weak for all of it

/// 1 - mean / (1 + sqrt(1 + mean²)): the probability with which a geometric number ends. This form avoids the
/// cancellation that would give 0 for large means.
double end_of(double mean) {
  const double root = std::sqrt(1 + mean * mean);
  return (1 + 1 / (root + mean)) / (1 + root);
}
}  // namespace

Variation::Variation(const Space& space, Crossover crossover) : space_(space), crossover_(crossover) {
  for (const auto& p : space.parameters()) ++(p.is_choice() ? choices_ : p.discrete() ? whole_ : reals_);
}

Individual Variation::child(const Individual& parent, const Individual& other, Random& random) const {
  Individual out{parent.genes, parent.steps};
  if (crossover_ != Crossover::none && random.uniform() < crossed_share) cross(out, other, random);
  mutate(out, random);
  return out;
}

void Variation::cross(Individual& child, const Individual& other, Random& random) const {
  const double share = random.uniform();
  for (std::size_t i = 0; i < child.genes.size(); ++i) {
    child.steps[i] = std::sqrt(child.steps[i] * other.steps[i]);
    const bool between = crossover_ == Crossover::intermediate && !space_[i].discrete();
    if (between) child.genes[i] += share * (other.genes[i] - child.genes[i]);
    else if (random.next() % 2 == 0) child.genes[i] = other.genes[i];
  }
}

void Variation::mutate(Individual& child, Random& random) const {
  const double real_rate = random.normal() / std::sqrt(2 * reals_),
               whole_rate = random.normal() / std::sqrt(2 * whole_);
  const auto share_of = [](double count) { return 1 / std::sqrt(2 * std::sqrt(count)); };
  const double own_real = own_share * share_of(reals_), own_whole = share_of(whole_);
  for (std::size_t i = 0; i < child.genes.size(); ++i) {
    const auto& p = space_[i];
    double& step = child.steps[i];
    if (p.is_choice()) {
      step = 1 / (1 + (1 - step) / step * std::exp(-random.normal() / std::sqrt(2 * choices_)));
      step = std::clamp(step, 1 / (3 * choices_ + 1), most_change);
    } else if (p.discrete()) {
      step = std::clamp(step * std::exp(whole_rate + own_whole * random.normal()), least_whole_step,
                        std::max(1.0, p.cells()));
    } else {
      step = std::clamp(step * std::exp(real_rate + own_real * random.normal()), least_deviation, most_deviation);
    }
    child.genes[i] = changed(p, child.genes[i], step, random);
  }
}

double Variation::changed(const Parameter& p, double gene, double step, Random& random) const {
  if (!p.discrete()) return mirrored(gene + step * random.normal(), 0, 1);
  if (p.is_choice()) {
    if (random.uniform() >= step) return gene;
    return other_choice(p, gene, random);
  }
  const double end = end_of(step_at(p, step, gene) / whole_);
  const double moved = gene + geometric(end, random) - geometric(end, random);
  return std::clamp(mirrored(moved, p.lower, p.upper), p.lower, p.upper);
}

}  // namespace culmen::evolution
