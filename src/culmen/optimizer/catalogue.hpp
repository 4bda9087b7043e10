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

struct Chosen {
  std::string name;
  std::string why;  ///< in a few words
};

/// What runs where the user names none, or "auto": mocma for two objectives, sms_emoa for more, lm for residuals of
/// real parameters, "auto" itself for one objective without limits and constraints, or of real parameters with such as
/// are seen wherever they are violated; with others cmaes where there are numbers and no condition; else evolution.
Chosen default_optimizer(const Space& space, const Yield& yield);

/// Sets what of the options is not given and depends on how many evaluations a study begins with: for several
/// objectives the population of evolution, nsga2, nsga3 and sms_emoa, 0.6 times the root of the budget, from 10 to 100.
/// It does not depend on the workers, so that these do not change the candidates. 0: no budget, nothing is set.
void fit_to_budget(const std::string& optimizer, const Yield& yield, std::uint64_t budget, OptimizerOptions& options);

}  // namespace culmen
