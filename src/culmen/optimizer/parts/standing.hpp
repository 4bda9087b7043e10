// The part of an outcome that ranks need, in a small type.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen {

/// The order of better() for one objective: finite successful outcomes before failed ones, feasible before infeasible,
/// less violation before more, then the smaller value.
struct Standing {
  enum class Fate : unsigned char { ok, infeasible, failed };
  Fate fate = Fate::failed;
  double value = 0;  ///< infeasible: the violation; failed: 0

  static Standing of(const Outcome& outcome);
  bool ok() const { return fate == Fate::ok; }
  bool failed() const { return fate == Fate::failed; }
  bool better_than(const Standing& other) const { return fate != other.fate ? fate < other.fate : value < other.value; }
};

/// The indices of known standings, best first; among equals the earlier one comes first.
std::vector<std::size_t> best_first(const std::vector<std::optional<Standing>>& standings);

}  // namespace culmen
