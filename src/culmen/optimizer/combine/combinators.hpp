// Optimizers around an optimizer.
#pragma once
#include <memory>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Gives only candidates that fulfil the space's constraints. The others are told to `inner` at once (where it is
/// generational: as soon as all before them are told) as outcomes that are ok, with their violation and no value, so
/// that it learns where the constraints are. ask() throws Error after 100 000 infeasible candidates in a row,
/// unless `inner` ends by itself.
std::unique_ptr<Optimizer> feasible_only(std::unique_ptr<Optimizer> inner, const Space& space);

/// Gives these vectors first; `inner` hears of them.
std::unique_ptr<Optimizer> starting_with(std::unique_ptr<Optimizer> inner, std::vector<std::vector<double>> starts);

/// The space with the search's beginning at this vector. What is active under a condition only keeps its resting value.
Space beginning_at(const Space& space, const std::vector<double>& start);

struct Search {
  std::string optimizer = "cmaes";
  OptimizerOptions options = {};
  std::uint64_t seed = 1;
  std::vector<std::vector<double>> starts = {};  ///< evaluated first
  bool evaluate_infeasible = false;              ///< as if there were no constraints; the worker measures the violation
  Terms terms = {};
};

/// make_optimizer(), then both of the above as far as they are needed. The space's initial values, where there are any,
/// are the first start, if they fulfil the constraints. Throws InputError also for a start that does not.
std::unique_ptr<Optimizer> make_search(const Search& search, const Space& space);

}  // namespace culmen
