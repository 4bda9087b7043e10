#include "culmen/optimizer/core/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "culmen/space/scaling.hpp"

namespace culmen {

OptionRule OptionRule::number(std::string name, std::string about, double lowest, double highest, double standard) {
  return {std::move(name), std::move(about), Type::number, lowest, highest, {}, OptionValue(standard), {}};
}

OptionRule OptionRule::whole(std::string name, std::string about, double lowest, double highest, double standard) {
  return {std::move(name), std::move(about), Type::whole, lowest, highest, {}, OptionValue(standard), {}};
}

OptionRule OptionRule::whole(std::string name, std::string about, double lowest, double highest,
                             std::string otherwise) {
  return {std::move(name), std::move(about), Type::whole, lowest, highest, {}, {}, std::move(otherwise)};
}

OptionRule OptionRule::word(std::string name, std::string about, std::vector<std::string> words, std::string standard) {
  return {std::move(name), std::move(about), Type::word, 0, 0, std::move(words), OptionValue(standard), {}};
}

OptionRule OptionRule::formerly(OptionValue value) const {
  auto rule = *this;
  rule.former = std::move(value);
  return rule;
}

OptionRule OptionRule::that_only_ends() const {
  auto rule = *this;
  rule.ends_only = true;
  return rule;
}

namespace {
bool has_order(const Parameter& p) { return p.kind != ParameterKind::categorical; }
}  // namespace

std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield) {
  const auto& all = space.parameters();
  if (optimizer.needs_residuals && !yield.residuals)
    return "needs residuals: return them from the evaluator and write result = \"residuals\", or remove the optimizer, "
           "and culmen chooses one";
  const auto odd = std::ranges::find_if_not(all, &Parameter::is_plain_real);
  if (optimizer.needs_reals && odd != all.end()) {
    const bool conditional = odd->kind == ParameterKind::real;
    return fmt::format(
        "needs real parameters that are always active; '{}' is {}; remove the optimizer, and culmen chooses one",
        odd->name, conditional ? "conditional" : to_string(odd->kind));
  }
  const auto unordered = std::ranges::find_if_not(all, has_order);
  if (optimizer.needs_order && unordered != all.end())
    return fmt::format(
        "needs parameters with an order; '{}' is categorical; remove the optimizer, and culmen chooses one",
        unordered->name);
  const auto open = std::ranges::find_if_not(all, has_bounds);
  if (optimizer.needs_bounds && open != all.end())
    return fmt::format("needs both bounds of every parameter; '{}' has no {} bound; add it, or remove the optimizer",
                       open->name, std::isinf(open->lower) ? "lower" : "upper");
  if (optimizer.one_objective && yield.objectives > 1)
    return fmt::format("takes one objective, not {}; remove the optimizer, and culmen chooses one", yield.objectives);
  if (optimizer.two_objectives && yield.objectives > 2)
    return fmt::format("takes two objectives at most, not {}; remove the optimizer, and culmen chooses one",
                       yield.objectives);
  return {};
}

}  // namespace culmen
