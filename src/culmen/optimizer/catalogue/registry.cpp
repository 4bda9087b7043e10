#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/optimizer/catalogue/choice.hpp"
#include "culmen/optimizer/catalogue/peer_words.hpp"
#include "culmen/optimizer/combine/automatic/automatic.hpp"
#include "culmen/optimizer/combine/chain.hpp"
#include "culmen/optimizer/combine/foreign.hpp"
#include "culmen/optimizer/combine/mocma/mocma.hpp"
#include "culmen/optimizer/core/kind.hpp"
#include "culmen/optimizer/methods/annealing/annealing.hpp"
#include "culmen/optimizer/methods/bayes/bayes.hpp"
#include "culmen/optimizer/methods/cmaes/cmaes.hpp"
#include "culmen/optimizer/methods/de/de.hpp"
#include "culmen/optimizer/methods/evolution/evolution.hpp"
#include "culmen/optimizer/methods/lm/lm.hpp"
#include "culmen/optimizer/methods/local/kinds.hpp"
#include "culmen/optimizer/methods/nsga/genetic.hpp"
#include "culmen/optimizer/methods/racing/racing.hpp"
#include "culmen/optimizer/methods/sampling/kinds.hpp"
#include "culmen/optimizer/methods/swarm/swarm.hpp"

namespace culmen {
namespace {
const std::vector<OptimizerKind>& kinds() {
  static const std::vector<OptimizerKind> all{
      annealing_kind(), auto_kind(),       bayes_kind(),       bfgs_kind(),
      bobyqa_kind(),    brent_step_kind(), cmaes_kind(),       conjugate_gradient_kind(),
      de_kind(),        evolution_kind(),  gradient_kind(),    grid_kind(),
      lm_kind(),        mocma_kind(),      nelder_mead_kind(), nsga2_kind(),
      nsga3_kind(),     racing_kind(),     random_kind(),      scan_kind(),
      slsqp_kind(),     sms_emoa_kind(),   sobol_kind(),       swarm_kind(),
  };
  return all;
}

std::string allowed(const OptionRule& rule) {
  switch (rule.type) {
    case OptionRule::Type::number:
      return fmt::format("a number from {} to {}", rule.lowest, rule.highest);
    case OptionRule::Type::whole:
      return fmt::format("a whole number from {} to {}", rule.lowest, rule.highest);
    case OptionRule::Type::word:
      return fmt::format(
          "one of {}",
          fmt::join(rule.words | std::views::transform([](const auto& w) { return fmt::format("\"{}\"", w); }), ", "));
    case OptionRule::Type::flag:
      return "true or false";
  }
  return "";
}

bool passes(const OptionRule& rule, const OptionValue& value) {
  if (rule.type == OptionRule::Type::flag) return std::holds_alternative<bool>(value);
  if (rule.type == OptionRule::Type::word) {
    const auto* word = std::get_if<std::string>(&value);
    return word != nullptr && std::ranges::find(rule.words, *word) != rule.words.end();
  }
  const auto* number = std::get_if<double>(&value);
  return number != nullptr && *number >= rule.lowest && *number <= rule.highest &&
         (rule.type == OptionRule::Type::number || *number == std::floor(*number));
}

void check_value(const std::string& optimizer, const OptionRule& rule, const OptionValue& value) {
  if (passes(rule, value)) return;
  const auto* word = std::get_if<std::string>(&value);
  throw InputError(fmt::format("optimizer '{}': option '{}' is {}, it must be {}{}", optimizer, rule.name,
                               to_string(value), allowed(rule),
                               word != nullptr ? did_you_mean(*word, rule.words) : ""));
}

void check_option(const OptimizerKind& kind, const std::string& name, const OptionValue& value) {
  const auto rule = std::ranges::find(kind.options, name, &OptionRule::name);
  if (rule != kind.options.end()) return check_value(kind.name, *rule, value);
  std::vector<std::string> known;
  for (const auto& option : kind.options) known.push_back(option.name);
  throw InputError(fmt::format("optimizer '{}' has no option '{}'{}; it has {}", kind.name, name,
                               hint_for_option(name, known),
                               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}

OptimizerOptions completed(const OptimizerKind& kind, OptimizerOptions options, Edition edition) {
  for (const auto& rule : kind.options) {
    if (rule.former && edition == Edition::first) options.emplace(rule.name, *rule.former);
    else if (rule.standard) options.emplace(rule.name, *rule.standard);
  }
  return options;
}
}  // namespace

const std::vector<OptimizerInfo>& optimizer_catalogue() {
  static const std::vector<OptimizerInfo> all(kinds().begin(), kinds().end());
  return all;
}

const OptimizerInfo* find_optimizer(const std::string& name) {
  const auto& all = optimizer_catalogue();
  const auto found = std::ranges::find(all, name, &OptimizerInfo::name);
  return found != all.end() ? &*found : nullptr;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::string unknown_optimizer(const std::string& name) {
  const auto known = optimizer_names();
  return fmt::format("there is no optimizer '{}'{}; known are {}", name, hint_for_optimizer(name, known),
                     fmt::join(known, ", "));
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                          const OptimizerOptions& options, const Terms& terms) {
  if (const auto chosen = chosen_optimizer(name, options, space, terms.yield).name; chosen != name)
    return make_optimizer(chosen, space, seed, {}, terms);
  if (is_chain(name)) return make_chain(name, space, seed, options, terms);
  if (is_foreign(name)) return make_foreign(name, space, seed, options, terms);
  const auto kind = std::ranges::find(kinds(), name, &OptimizerKind::name);
  if (kind == kinds().end()) throw InputError(unknown_optimizer(name));
  for (const auto& [option, value] : options) check_option(*kind, option, value);
  if (const auto why = obstacle(*kind, space, terms.yield); !why.empty())
    throw InputError(fmt::format("optimizer '{}' {}", name, why));
  if (terms.mode == Mode::asynchronous && !kind->asynchronous)
    throw InputError(fmt::format("optimizer '{}' works only in generations; remove generational = false", name));
  return kind->make(space, seed, completed(*kind, options, terms.edition), terms);
}

}  // namespace culmen
