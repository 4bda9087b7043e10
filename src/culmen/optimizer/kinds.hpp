// What the registry knows of each optimizer. Internal to this folder.
#pragma once
#include <functional>
#include <memory>

#include "culmen/optimizer/catalogue.hpp"
#include "culmen/optimizer/optimizer.hpp"

namespace culmen {

struct OptimizerKind : OptimizerInfo {
  /// Gets a space and terms without an obstacle, and options that have passed the rules, with every standard filled
  /// in.
  std::function<std::unique_ptr<Optimizer>(const Space&, std::uint64_t seed, const OptimizerOptions&, const Terms&)>
      make;
};

/// Of an option that is there, of that type.
double number_of(const OptimizerOptions& options, const std::string& name);
std::size_t count_of(const OptimizerOptions& options, const std::string& name);
const std::string& word_of(const OptimizerOptions& options, const std::string& name);

OptimizerKind annealing_kind();
OptimizerKind auto_kind();
OptimizerKind bayes_kind();
OptimizerKind bfgs_kind();
OptimizerKind bobyqa_kind();
OptimizerKind brent_step_kind();
OptimizerKind cmaes_kind();
OptimizerKind conjugate_gradient_kind();
OptimizerKind de_kind();
OptimizerKind evolution_kind();
OptimizerKind gradient_kind();
OptimizerKind grid_kind();
OptimizerKind lm_kind();
OptimizerKind mocma_kind();
OptimizerKind nelder_mead_kind();
OptimizerKind nsga2_kind();
OptimizerKind nsga3_kind();
OptimizerKind racing_kind();
OptimizerKind random_kind();
OptimizerKind scan_kind();
OptimizerKind slsqp_kind();
OptimizerKind sms_emoa_kind();
OptimizerKind sobol_kind();
OptimizerKind swarm_kind();

}  // namespace culmen
