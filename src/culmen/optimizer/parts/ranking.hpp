// Who is better than whom, of one objective and of several.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen {

/// What ranks need, without texts and residuals; not ok where a figure is not finite and no constraint is violated.
Outcome rankable(const Outcome& outcome);

/// The indices of the feasible that have several values, by fronts, best first: of each nothing in it dominates another
/// of it (fast non-dominated sorting). Those of one front are in their order here.
std::vector<std::vector<std::size_t>> fronts(const std::vector<const Outcome*>& outcomes);

/// The indices of these, best first; the order of equals is kept. What did not fail comes before what did, less
/// violation before more (Deb, Comput. Methods Appl. Mech. Eng. 186 (2000) 311); among the feasible the lesser value,
/// or with several objectives the lower front, and within a front the less crowded (NSGA-II: Deb, Pratap, Agarwal and
/// Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182).
std::vector<std::size_t> ranked(const std::vector<const Outcome*>& outcomes);

/// Sorts members by their `outcome` likewise.
template <typename Member>
void rank(std::vector<Member>& members) {
  std::vector<const Outcome*> outcomes;
  for (const auto& m : members) outcomes.push_back(&m.outcome);
  std::vector<Member> sorted;
  for (const auto a : ranked(outcomes)) sorted.push_back(std::move(members[a]));
  members = std::move(sorted);
}

}  // namespace culmen
