#include "culmen/optimizer/standing.hpp"

#include <cmath>

namespace culmen {

Standing Standing::of(const Outcome& outcome) {
  if (!outcome.ok()) return {};
  if (outcome.violation > 0) return {Fate::infeasible, outcome.violation};
  return std::isfinite(outcome.value) ? Standing{Fate::ok, outcome.value} : Standing{};
}

}  // namespace culmen
