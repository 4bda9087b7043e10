#include "culmen/optimizer/parts/constraints.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {

Constraints::Constraints(const Space& space, const Yield& yield)
    : space_(space),
      judge_(yield.goals ? *yield.goals : Goals{}, space),
      of_space_(yield.infeasible && !space.constraints().empty()) {
  if (space_.conditional()) return;
  std::vector<double> some;
  if (of_space_) space_.slacks(space_.start(), some);
  judge_.slacks({}, space_.spread(space_.start()), some);
  count_ = some.size();
}

std::vector<double> Constraints::slacks(std::span<const double> x, const Outcome& outcome) const {
  std::vector<double> out;
  if (count_ == 0 || !outcome.ok() || !std::isfinite(outcome.value)) return out;
  if (of_space_) space_.slacks(x, out);
  judge_.slacks(outcome, space_.spread(x), out);
  const bool finite = std::ranges::all_of(out, [](double v) { return std::isfinite(v); });
  return finite ? out : std::vector<double>{};
}

}  // namespace culmen
