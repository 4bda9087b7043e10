// The kind of results that evaluations return, and the conditions of a search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "culmen/evaluation/mode.hpp"

namespace culmen {

struct Goals;

/// The kind of result that an evaluation returns.
struct Yield {
  bool residuals = false;
  std::size_t objectives = 1;
  bool limits = false;                           ///< some figures have limits, and an outcome may violate them
  std::shared_ptr<const Goals> goals = nullptr;  ///< with these limits; null: unknown
  bool infeasible = false;                       ///< candidates that violate the space's constraints are evaluated too
};

/// The same options, seed and results may give other candidates in a later edition. A study keeps the edition with
/// which it began, so that it can be resumed.
enum class Edition : unsigned char {
  first = 1,
  second = 2,  ///< "lm" descends from starts at once, screens by the budget and ends when descents agree
  third = 3,   ///< "brent_step" and "auto" divide a bracket if parabolas only creep
  fourth = 4,  ///< "bfgs" and "auto" do not return to a distant bound in each line search
  fifth = 5,   ///< "lm" takes longer steps for derivatives if the residuals did not change
};
inline constexpr Edition newest_edition = Edition::fifth;

/// The conditions of a search.
struct Terms {
  Yield yield = {};
  std::uint64_t evaluations = 0;  ///< the study's initial limit; 0: unknown
  Mode mode = Mode::generational;
  Edition edition = newest_edition;
};

}  // namespace culmen
