#include "culmen/optimizer/combine/mocma/ends.hpp"

#include <algorithm>
#include <utility>

#include "culmen/optimizer/core/info.hpp"

namespace culmen::mocma {

Ends::Ends(const Space& space, std::uint64_t seed, const Terms& terms) {
  Terms alone = terms;
  alone.yield.objectives = 1;
  alone.yield.residuals = false;
  const bool numbers = obstacle(*find_optimizer("cmaes"), space, alone.yield).empty() && !space.conditional();
  for (std::size_t k = 0; k < terms.yield.objectives; ++k)
    searches_.push_back(make_optimizer(numbers ? "cmaes" : "evolution", space, seed + k, {}, alone));
  if (terms.mode == Mode::generational) return;
  for (auto& s : searches_) jobs_.add(*s);
}

std::optional<Ends::Given> Ends::ask() {
  const auto least = std::ranges::min_element(searches_, {}, [](const auto& s) { return s->asked(); });
  one_.clear();
  if ((*least)->ask(1, one_) == 0) return std::nullopt;
  return Given{static_cast<std::size_t>(least - searches_.begin()), one_.front().id, std::move(one_.front().x)};
}

void Ends::settle(const Given& given, const std::optional<Outcome>& outcome) {
  auto& search = *searches_[given.objective];
  if (!outcome) return search.cancel(given.id);
  Outcome alone = *outcome;
  if (given.objective < alone.values.size()) alone.value = alone.values[given.objective];
  alone.values.clear();
  search.tell(given.id, alone);
}

void Ends::resize(std::size_t workers) {
  for (auto& s : searches_) s->resize(workers);
}

}  // namespace culmen::mocma
