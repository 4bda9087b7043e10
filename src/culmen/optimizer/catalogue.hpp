// What there is to choose from: the optimizers, what they are for, what they need and what they can be told.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "culmen/optimizer/options.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

struct Goals;

/// One option of an optimizer. Bounds are inclusive.
struct OptionRule {
  enum class Type : unsigned char { number, whole, word, flag };
  std::string name;
  std::string about;
  Type type = Type::number;
  double lowest = 0, highest = std::numeric_limits<double>::max();  ///< of number and whole
  std::vector<std::string> words = {};                              ///< of word: what is allowed
  std::optional<OptionValue> standard = {};                         ///< what holds where it is not given
  std::string otherwise = {};  ///< where there is no standard: what holds then, in words

  static OptionRule number(std::string name, std::string about, double lowest, double highest, double standard);
  static OptionRule whole(std::string name, std::string about, double lowest, double highest, double standard);
  /// What holds where it is not given, in words.
  static OptionRule whole(std::string name, std::string about, double lowest, double highest, std::string otherwise);
  static OptionRule word(std::string name, std::string about, std::vector<std::string> words, std::string standard);
};

/// What an evaluation gives.
struct Yield {
  bool residuals = false;
  std::size_t objectives = 1;
  bool limits = false;                           ///< of figures: some outcomes count for less than their value
  std::shared_ptr<const Goals> goals = nullptr;  ///< with those limits; null: they are not known
  bool infeasible = false;                       ///< also where the space's constraints do not hold
};

/// What a search can count on.
struct Terms {
  Yield yield = {};               ///< of an evaluation
  std::uint64_t evaluations = 0;  ///< how many the study begins with; 0: no limit is known
  bool generational = true;       ///< the candidates shall not depend on timing; else none shall wait for others
};

struct OptimizerInfo {
  std::string name;
  std::string about;
  bool needs_residuals = false;
  bool needs_reals = false;              ///< every parameter real and always active
  bool needs_order = false;              ///< no parameter categorical
  bool one_objective = true;             ///< false: any number of them
  bool two_objectives = false;           ///< no more than two
  bool seeded = true;                    ///< false: the same candidates whatever the seed
  bool asynchronous = false;             ///< it can be told in any order and then always has a candidate
  std::vector<OptionRule> options = {};  ///< in alphabetical order
};

/// In alphabetical order.
const std::vector<OptimizerInfo>& optimizer_catalogue();
std::vector<std::string> optimizer_names();

/// Why the optimizer cannot work on this: one clause, such as "it needs residuals, …"; empty where it can.
std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield);

/// What runs where the user names no optimizer, or "auto".
struct Chosen {
  std::string name;
  std::string why;        ///< in a few words; empty: the user named it
  bool any_time = false;  ///< it searches as well without generations, once workers are many
  bool frugal = false;    ///< but in generations with far fewer evaluations, which few workers do in as much time
};

/// All that can be chosen, in the order in which they are thought of.
std::vector<Chosen> optimizer_choices();
/// The first of them that suits.
Chosen default_optimizer(const Space& space, const Yield& yield);
/// The name itself; of "auto" what it is here. Throws InputError where "auto" has options and is another optimizer
/// here.
Chosen chosen_optimizer(const std::string& name, const OptimizerOptions& options, const Space& space,
                        const Yield& yield);

/// Of methods for several objectives: 0.6 times the root of the budget, from 10 to 100; 100 where none is known. It
/// does not depend on the workers, so that these do not change the candidates.
std::size_t population_for_several(const Terms& terms);

}  // namespace culmen
