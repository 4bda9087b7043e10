// Ranks of outcomes, for one objective and for several.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen {

/// The part of an outcome that ranks need, without texts and residuals. It is not ok if a figure is not finite and no
/// constraint is violated.
Outcome rankable(const Outcome& outcome);

/// The indices of feasible outcomes with several values, sorted into fronts, best first (fast non-dominated sorting).
/// No outcome dominates another one of its own front. Within a front the order of `outcomes` is kept.
std::vector<std::vector<std::size_t>> fronts(const std::vector<const Outcome*>& outcomes);

/// The indices of the outcomes, best first; the order of equals is kept. Successful outcomes come before failed ones,
/// then less violation before more (Deb, Comput. Methods Appl. Mech. Eng. 186 (2000) 311). Feasible outcomes are sorted
/// by value. With several objectives they are sorted by front, and within a front the less crowded come first (NSGA-II:
/// Deb, Pratap, Agarwal and Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182).
std::vector<std::size_t> ranked(const std::vector<const Outcome*>& outcomes);

/// Sorts members by their `outcome` in the same order.
template <typename Member>
void rank(std::vector<Member>& members) {
  std::vector<const Outcome*> outcomes;
  for (const auto& m : members) outcomes.push_back(&m.outcome);
  std::vector<Member> sorted;
  for (const auto a : ranked(outcomes)) sorted.push_back(std::move(members[a]));
  members = std::move(sorted);
}

}  // namespace culmen
