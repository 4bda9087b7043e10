// The Pareto front: the candidates that no other candidate dominates.
#pragma once
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

struct Evaluated {
  Candidate candidate;
  Outcome outcome;
};

/// True if `a` is not worse than `b` in any value, and better in at least one. Both have the same size.
bool dominates(const std::vector<double>& a, const std::vector<double>& b);

/// The non-dominated feasible outcomes of several objectives. Of equal outcomes, it keeps the first. add() compares the
/// outcome with all members.
class Front {
 public:
  void add(const Candidate& candidate, const Outcome& outcome);
  const std::vector<Evaluated>& members() const { return members_; }

 private:
  std::vector<Evaluated> members_;
};

}  // namespace culmen
