#include "culmen/evaluation/front.hpp"

#include <algorithm>

namespace culmen {

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (a[k] > b[k]) return false;
    better |= a[k] < b[k];
  }
  return better;
}

void Front::add(const Candidate& candidate, const Outcome& outcome) {
  if (outcome.values.empty() || !outcome.feasible()) return;
  const auto& v = outcome.values;
  const auto covers = [&](const Evaluated& m) { return m.outcome.values == v || dominates(m.outcome.values, v); };
  if (std::ranges::any_of(members_, covers)) return;
  std::erase_if(members_, [&](const Evaluated& m) { return dominates(v, m.outcome.values); });
  members_.push_back({candidate, outcome});
}

}  // namespace culmen
