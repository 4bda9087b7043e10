// What the evaluations of a study give, and what a search can count on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

namespace culmen {

struct Goals;

/// What an evaluation gives.
struct Yield {
  bool residuals = false;
  std::size_t objectives = 1;
  bool limits = false;                           ///< of figures: some outcomes count for less than their value
  std::shared_ptr<const Goals> goals = nullptr;  ///< with those limits; null: they are not known
  bool infeasible = false;                       ///< also where the space's constraints do not hold
};

/// What a search can count on.
struct Terms {
  Yield yield = {};               ///< of an evaluation
  std::uint64_t evaluations = 0;  ///< how many the study begins with; 0: no limit is known
  bool generational = true;       ///< the candidates shall not depend on timing; else none shall wait for others
};

}  // namespace culmen
