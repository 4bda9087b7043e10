#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"
#include "culmen/optimizer/kinds.hpp"

namespace culmen {
namespace {
const std::array<OptimizerKind, 4>& kinds() {
  static const std::array<OptimizerKind, 4> all{cmaes_kind(), lm_kind(), random_kind(), sobol_kind()};
  return all;
}

void check_value(const std::string& optimizer, const OptionRule& rule, double value) {
  if (value >= rule.lowest && value <= rule.highest && (!rule.whole || value == std::floor(value))) return;
  throw InputError(fmt::format("optimizer '{}': option '{}' is {}, it must be a {} from {} to {}", optimizer, rule.name,
                               value, rule.whole ? "whole number" : "number", rule.lowest, rule.highest));
}

void check_option(const OptimizerKind& kind, const std::string& name, double value) {
  const auto rule = std::ranges::find(kind.options, name, &OptionRule::name);
  if (rule != kind.options.end()) return check_value(kind.name, *rule, value);
  std::vector<std::string> known;
  for (const auto& option : kind.options) known.push_back(option.name);
  throw InputError(fmt::format("optimizer '{}' has no option '{}'{}; it has {}", kind.name, name,
                               did_you_mean(name, known),
                               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
}
}  // namespace

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& kind : kinds()) names.push_back(kind.name);
  return names;
}

std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                          const OptimizerOptions& options) {
  const auto kind = std::ranges::find(kinds(), name, &OptimizerKind::name);
  if (kind == kinds().end()) {
    const auto known = optimizer_names();
    throw InputError(fmt::format("there is no optimizer '{}'{}; known are {}", name, did_you_mean(name, known),
                                 fmt::join(known, ", ")));
  }
  for (const auto& [option, value] : options) check_option(*kind, option, value);
  return kind->make(space, seed, options);
}

}  // namespace culmen
