#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "culmen/optimizer/catalogue.hpp"

namespace culmen {
namespace {
/// Real, and there whatever the others are.
bool is_plain_real(const Parameter& p) { return p.kind == ParameterKind::real && p.active_when.empty(); }
bool has_order(const Parameter& p) { return p.kind != ParameterKind::categorical; }
}  // namespace

std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield) {
  const auto& all = space.parameters();
  if (optimizer.needs_residuals && !yield.residuals)
    return "needs residuals: let the evaluator return them and say result = \"residuals\", or leave the optimizer out";
  const auto odd = std::ranges::find_if_not(all, is_plain_real);
  if (optimizer.needs_reals && odd != all.end()) {
    const bool conditional = odd->kind == ParameterKind::real;
    return fmt::format("needs real parameters that are always active; '{}' is {}; leave the optimizer out", odd->name,
                       conditional ? "conditional" : to_string(odd->kind));
  }
  const auto unordered = std::ranges::find_if_not(all, has_order);
  if (optimizer.needs_order && unordered != all.end())
    return fmt::format("needs parameters with an order; '{}' is categorical; leave the optimizer out", unordered->name);
  if (optimizer.one_objective && yield.objectives > 1)
    return fmt::format("takes one objective, not {}; leave the optimizer out", yield.objectives);
  if (optimizer.two_objectives && yield.objectives > 2)
    return fmt::format("takes two objectives at most, not {}; leave the optimizer out", yield.objectives);
  return {};
}

Chosen default_optimizer(const Space& space, const Yield& yield) {
  if (yield.objectives == 2) return {"mocma", "two objectives"};
  if (yield.objectives > 2) return {"sms_emoa", "several objectives"};
  const auto& all = space.parameters();
  const bool free = !yield.limits && space.constraints().empty();
  const bool seen = space.constraints().empty() || yield.infeasible;
  const bool smooth = seen && std::ranges::all_of(all, is_plain_real);
  if (smooth && free && yield.residuals) return {"lm", "residuals of real parameters"};
  if (smooth) return {"auto", "one objective of real parameters"};
  if (free) return {"auto", "one objective of parameters of several kinds"};
  if (space.conditional()) return {"evolution", "conditional parameters"};
  if (!std::ranges::all_of(all, has_order)) return {"evolution", "categorical parameters"};
  return {"cmaes", "one objective of parameters with an order"};
}

void fit_to_budget(const std::string& optimizer, const Yield& yield, std::uint64_t budget, OptimizerOptions& options) {
  const bool evolution = optimizer == "evolution";
  const bool genetic = optimizer == "nsga2" || optimizer == "nsga3" || optimizer == "sms_emoa";
  if ((!evolution && !genetic) || yield.objectives < 2 || budget == 0) return;
  const double population = std::clamp(std::round(0.6 * std::sqrt(static_cast<double>(budget))), 10.0, 100.0);
  if (!evolution) {
    options.emplace("population", population);
    return;
  }
  const auto* parents = std::get_if<double>(&options.emplace("parents", population).first->second);
  options.emplace("children", parents != nullptr ? std::max(population, *parents) : population);
}

}  // namespace culmen
