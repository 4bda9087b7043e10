// What ranks need to know of an outcome, in two words.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen {

/// The order of better() for one objective: what did not fail, and is finite, before what did; feasible before not,
/// less violation before more; then the lesser value.
struct Standing {
  enum class Fate : unsigned char { ok, infeasible, failed };
  Fate fate = Fate::failed;
  double value = 0;  ///< infeasible: the violation; failed: 0

  static Standing of(const Outcome& outcome);
  bool ok() const { return fate == Fate::ok; }
  bool failed() const { return fate == Fate::failed; }
  bool better_than(const Standing& other) const { return fate != other.fate ? fate < other.fate : value < other.value; }
};

/// The indices of those that are known, best first; the earlier goes first among equals.
std::vector<std::size_t> best_first(const std::vector<std::optional<Standing>>& standings);

}  // namespace culmen
