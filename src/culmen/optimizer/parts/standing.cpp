#include "culmen/optimizer/parts/standing.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {

Standing Standing::of(const Outcome& outcome) {
  if (!outcome.ok()) return {};
  if (outcome.violation > 0) return {Fate::infeasible, outcome.violation};
  return std::isfinite(outcome.value) ? Standing{Fate::ok, outcome.value} : Standing{};
}

std::vector<std::size_t> best_first(const std::vector<std::optional<Standing>>& standings) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < standings.size(); ++k) {
    if (standings[k]) order.push_back(k);
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return standings[a]->better_than(*standings[b]); });
  return order;
}

}  // namespace culmen
