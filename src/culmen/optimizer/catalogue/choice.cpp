#include "culmen/optimizer/catalogue/choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "culmen/base/error.hpp"

namespace culmen {
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
      {{"sms_emoa", "three or more objectives"}, [](auto&, auto& yield) { return yield.objectives > 2; }},
      {{"lm", "residuals, only real parameters, no constraints, no limits"},
       [](auto& space, auto& yield) {
         return yield.residuals && !yield.limits && space.constraints().empty() && is_real(space, yield);
       }},
      {{"auto", "one objective, only real parameters", true, true}, is_real},
      {{"auto", "one objective, other parameters", true}, [](auto&, auto&) { return true; }},
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
  throw InputError(fmt::format(
      "this study uses the optimizer '{0}' ({1}), so 'auto' has no option '{2}' here; write name = \"{0}\" to "
      "set options of '{0}'",
      chosen.name, chosen.why, options.begin()->first));
}

}  // namespace culmen
