#include "culmen/optimizer/evolution/variation.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::evolution {
namespace {
constexpr double crossed_share = 0.6;  // of children that have two parents
constexpr double least_deviation = 1e-15, most_deviation = 0.5;
constexpr double most_change = 0.5;
constexpr double least_whole_step = 0.3;  // so that reals are also looked at while the integers stand still
constexpr double own_share = 0.3;  // of the rate at which reals' steps differ; selection is too weak for all of it

/// Mirrored at the ends of [lower, upper] as often as needed.
double mirrored(double v, double lower, double upper) {
  if (v >= lower && v <= upper) return v;
  const double width = upper - lower;
  double y = std::fmod(std::abs(v - lower), 2 * width);
  if (y > width) y = 2 * width - y;
  return lower + y;
}

/// 0, 1, 2, … with probability p (1 - p)^k.
double geometric(double p, Random& random) {
  return p >= 1 ? 0 : std::floor(std::log1p(-random.uniform()) / std::log1p(-p));
}

bool is_choice(const Parameter& p) { return p.kind == ParameterKind::categorical || p.kind == ParameterKind::boolean; }
}  // namespace

Variation::Variation(const Space& space, Crossover crossover) : space_(space), crossover_(crossover) {
  for (const auto& p : space.parameters()) ++(is_choice(p) ? choices_ : p.discrete() ? whole_ : reals_);
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
    if (is_choice(p)) {
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
  if (is_choice(p)) {
    if (random.uniform() >= step) return gene;
    const auto other = static_cast<double>(random.below(static_cast<std::uint64_t>(p.cells()) - 1));
    return other + p.lower < gene ? other + p.lower : other + p.lower + 1;
  }
  if (p.scale == Scale::log)
    step = std::max(1.0, step / p.cells() * gene * std::log((p.upper + 0.5) / (p.lower - 0.5)));
  const double mean = step / whole_;
  const double end = 1 - mean / (1 + std::sqrt(1 + mean * mean));
  const double moved = gene + geometric(end, random) - geometric(end, random);
  return std::clamp(mirrored(moved, p.lower, p.upper), p.lower, p.upper);
}

}  // namespace culmen::evolution
