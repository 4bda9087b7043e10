#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/catalogue.hpp"

namespace culmen {
namespace {
bool has_order(const Parameter& p) { return p.kind != ParameterKind::categorical; }
}  // namespace

std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield) {
  const auto& all = space.parameters();
  if (optimizer.needs_residuals && !yield.residuals)
    return "needs residuals: let the evaluator return them and say result = \"residuals\", or leave the optimizer out";
  const auto odd = std::ranges::find_if_not(all, &Parameter::is_plain_real);
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

namespace {
struct Rule {
  Chosen chosen;
  bool (*suits)(const Space& space, const Yield& yield);
};

bool is_real(const Space& space, const Yield&) {
  return std::ranges::all_of(space.parameters(), &Parameter::is_plain_real);
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all{
      {{"mocma", "two objectives", true}, [](auto&, auto& yield) { return yield.objectives == 2; }},
      {{"sms_emoa", "several objectives"}, [](auto&, auto& yield) { return yield.objectives > 2; }},
      {{"lm", "residuals of real parameters"},
       [](auto& space, auto& yield) {
         return yield.residuals && !yield.limits && space.constraints().empty() && is_real(space, yield);
       }},
      {{"auto", "one objective of real parameters", true, true}, is_real},
      {{"auto", "one objective of parameters of several kinds", true}, [](auto&, auto&) { return true; }},
  };
  return all;
}
}  // namespace

std::vector<Chosen> optimizer_choices() {
  std::vector<Chosen> all;
  for (const auto& rule : rules()) all.push_back(rule.chosen);
  return all;
}

Chosen default_optimizer(const Space& space, const Yield& yield) {
  return std::ranges::find_if(rules(), [&](const Rule& rule) { return rule.suits(space, yield); })->chosen;
}

Chosen chosen_optimizer(const std::string& name, const OptimizerOptions& options, const Space& space,
                        const Yield& yield) {
  if (name != "auto") return {name, {}};
  auto chosen = default_optimizer(space, yield);
  if (chosen.name == name || options.empty()) return chosen;
  throw InputError(
      fmt::format("optimizer 'auto' has no option '{}' here, where it is '{}' ({}); name that to give it options",
                  options.begin()->first, chosen.name, chosen.why));
}

std::size_t population_for_several(const Terms& terms) {
  if (terms.evaluations == 0) return 100;
  return static_cast<std::size_t>(
      std::clamp(std::round(0.6 * std::sqrt(static_cast<double>(terms.evaluations))), 10.0, 100.0));
}

}  // namespace culmen
