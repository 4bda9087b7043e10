#include "culmen/optimizer/annealing/walk.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "culmen/optimizer/annealing/metropolis.hpp"
#include "culmen/optimizer/mutation.hpp"

namespace culmen::annealing {
namespace {
constexpr double gain = 0.5;  // of the logarithm of a step
constexpr double least_real_step = 1e-15, most_real_step = 0.5;

/// One that is active; an inactive one would change nothing.
std::size_t drawn_parameter(const Space& space, const evolution::Individual& at, Random& random) {
  if (!space.conditional()) return random.below(space.size());
  const auto active = space.activity(evolution::vector_of(space, at));
  auto left = random.below(static_cast<std::uint64_t>(std::ranges::count_if(active, [](char a) { return a != 0; })));
  for (std::size_t i = 0;; ++i) {
    if (active[i] != 0 && left-- == 0) return i;
  }
}

double changed(const Parameter& p, double gene, double step, Random& random) {
  if (is_choice(p)) return other_choice(p, gene, random);
  if (!p.discrete()) return mirrored(gene + step * random.normal(), 0, 1);
  const double cells = 1 + geometric(1 / std::max(1.0, step_at(p, step, gene)), random);
  const double moved = random.next() % 2 == 0 ? gene + cells : gene - cells;
  return std::clamp(mirrored(moved, p.lower, p.upper), p.lower, p.upper);
}
}  // namespace

Look Walk::look(const Space& space, Random& random) const {
  Look out{{at_.genes, {}}, drawn_parameter(space, at_, random), moves_};
  const auto i = out.parameter;
  out.at.genes[i] = changed(space[i], at_.genes[i], at_.steps[i], random);
  return out;
}

void Walk::adapt(const Parameter& p, double& step, bool accepted) const {
  if (is_choice(p)) return;
  step *= std::exp(gain * ((accepted ? 1 : 0) - wanted_share));
  step = p.discrete() ? std::clamp(step, 1.0, std::max(1.0, p.cells() / 2))
                      : std::clamp(step, least_real_step, most_real_step);
}

void Walk::saw(Look&& look, const Standing& standing, double temperature, const Space& space, Random& random) {
  const bool late = look.departure != moves_;
  const bool accepted =
      late ? standing.better_than(standing_) : accepts(standing, standing_, temperature, random.uniform());
  if (!late) adapt(space[look.parameter], at_.steps[look.parameter], accepted);
  if (accepted) place(look.at, standing, false);
}

void Walk::place(const evolution::Individual& at, const Standing& standing, bool with_steps) {
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
