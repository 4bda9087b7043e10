#include "culmen/optimizer/methods/annealing/walk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/methods/annealing/metropolis.hpp"
#include "culmen/optimizer/parts/mutation.hpp"

namespace culmen::annealing {
namespace {
constexpr double gain = 0.5;  // of the logarithm of a step
constexpr double least_real_step = 1e-15, most_real_step = 0.5;
constexpr double far_share = 0.1;  // of steps of one parameter
constexpr double least_along = 1e-3, most_along = 3;

std::size_t most_places(const Space& space) { return std::min<std::size_t>(10 + 2 * space.size(), 100); }

/// A random active parameter; an inactive one would change nothing.
std::size_t drawn_parameter(const Space& space, const Individual& at, Random& random) {
  if (!space.conditional()) return random.below(space.size());
  const auto active = space.activity(vector_of(space, at));
  auto left = random.below(static_cast<std::uint64_t>(std::ranges::count_if(active, [](char a) { return a != 0; })));
  for (std::size_t i = 0;; ++i) {
    if (active[i] != 0 && left-- == 0) return i;
  }
}

/// Sometimes longer, of any order of magnitude up to the range. Otherwise no walk would leave a basin to whose width
/// its steps have adapted.
double drawn_step(double step, double range, Random& random) {
  return random.uniform() < far_share ? step * std::pow(std::max(1.0, range / step), random.uniform()) : step;
}

double changed(const Parameter& p, double gene, double step, Random& random) {
  if (p.is_choice()) return other_choice(p, gene, random);
  step = drawn_step(step, p.discrete() ? p.cells() : 1, random);
  if (!p.discrete()) return mirrored(gene + step * random.normal(), 0, 1);
  const double cells = 1 + geometric(1 / std::max(1.0, step_at(p, step, gene)), random);
  const double moved = random.next() % 2 == 0 ? gene + cells : gene - cells;
  const double place = std::clamp(mirrored(moved, p.lower, p.upper), p.lower, p.upper);
  if (place != gene) return place;
  return gene < p.upper ? gene + 1 : gene - 1;
}
}  // namespace

Look Walk::look(const Space& space, Random& random) const {
  Look out{{at_.genes, {}}, {}, moves_};
  if (random.next() % 2 == 0 && look_along(space, out, random)) return out;
  const auto i = drawn_parameter(space, at_, random);
  out.parameter = i;
  out.at.genes[i] = changed(space[i], at_.genes[i], at_.steps[i], random);
  return out;
}

/// Returns false if nothing would change.
bool Walk::look_along(const Space& space, Look& look, Random& random) const {
  if (places_.size() < most_places(space)) return false;
  const auto &from = places_[random.below(places_.size())], &to = places_[random.below(places_.size())];
  const double share = along_ * random.normal();
  bool changes = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (space[i].discrete() || from[i] == to[i]) continue;
    look.at.genes[i] = mirrored(at_.genes[i] + share * (to[i] - from[i]), 0, 1);
    changes = true;
  }
  return changes;
}

void Walk::adapt(const Look& look, const Space& space, bool accepted) {
  const double factor = std::exp(gain * ((accepted ? 1 : 0) - wanted_share));
  if (!look.parameter) {
    along_ = std::clamp(along_ * factor, least_along, most_along);
    return;
  }
  const auto& p = space[*look.parameter];
  if (p.is_choice()) return;
  double& step = at_.steps[*look.parameter];
  step = p.discrete() ? std::clamp(step * factor, 1.0, std::max(1.0, p.cells() / 2))
                      : std::clamp(step * factor, least_real_step, most_real_step);
}

void Walk::remember(const Space& space) {
  if (places_.size() < most_places(space)) {
    places_.push_back(at_.genes);
  } else {
    places_[oldest_] = at_.genes;
    oldest_ = (oldest_ + 1) % places_.size();
  }
}

void Walk::saw(Look&& look, const Standing& standing, double temperature, const Space& space, Random& random) {
  const bool late = look.departure != moves_;
  const bool accepted =
      late ? standing.better_than(standing_) : accepts(standing, standing_, temperature, random.uniform());
  if (!late) adapt(look, space, accepted);
  if (!accepted) return;
  place(look.at, standing, false);
  remember(space);
}

void Walk::place(const Individual& at, const Standing& standing, bool with_steps) {
  at_.genes = at.genes;
  if (with_steps) at_.steps = at.steps;
  standing_ = standing;
  ++moves_;
}

void Walk::exchange(Walk& other) {
  std::swap(at_.genes, other.at_.genes);
  std::swap(standing_, other.standing_);
  ++moves_;
  ++other.moves_;
}

}  // namespace culmen::annealing
