// The candidates of which no other is better in every objective.
#pragma once
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

struct Evaluated {
  Candidate candidate;
  Outcome outcome;
};

/// True when `a` is nowhere worse than `b`, and somewhere better. As many values each.
bool dominates(const std::vector<double>& a, const std::vector<double>& b);

/// The non-dominated feasible outcomes of several objectives; of equal ones the first. An insertion looks at all.
class Front {
 public:
  void add(const Candidate& candidate, const Outcome& outcome);
  const std::vector<Evaluated>& members() const { return members_; }

 private:
  std::vector<Evaluated> members_;
};

}  // namespace culmen
