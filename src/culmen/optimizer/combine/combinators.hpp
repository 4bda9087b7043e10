// Optimizers around an optimizer.
#pragma once
#include <memory>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen {

/// Gives only candidates that fulfil the space's constraints. For the others, `inner` is told an ok outcome with their
/// violation and no value, so that it learns the constraints. This happens at once; if `inner` is generational, as soon
/// as all candidates before them have been told. ask() throws Error after 100 000 infeasible candidates in a row (10⁶
/// if `inner` ends by itself).
std::unique_ptr<Optimizer> feasible_only(std::unique_ptr<Optimizer> inner, const Space& space);

/// Gives these vectors first. `inner` hears their outcomes.
std::unique_ptr<Optimizer> starting_with(std::unique_ptr<Optimizer> inner, std::vector<std::vector<double>> starts);

/// The same space with this vector as the start. Conditional parameters keep their resting values.
Space beginning_at(const Space& space, const std::vector<double>& start);

struct Search {
  std::string optimizer = "cmaes";
  OptimizerOptions options = {};
  std::uint64_t seed = 1;
  std::vector<std::vector<double>> starts = {};  ///< evaluated first
  bool evaluate_infeasible = false;              ///< also candidates that violate constraints; workers measure how much
  Terms terms = {};
};

/// make_optimizer() with starting_with() and feasible_only() as needed. The space's initial values are the first start
/// if they fulfil the constraints. Throws InputError for another start that does not fulfil them.
std::unique_ptr<Optimizer> make_search(const Search& search, const Space& space);

}  // namespace culmen
