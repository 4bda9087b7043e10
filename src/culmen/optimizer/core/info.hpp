// The description of an optimizer: its purpose, its requirements and its options.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "culmen/optimizer/core/options.hpp"
#include "culmen/optimizer/core/terms.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// One option of an optimizer. Bounds are inclusive.
struct OptionRule {
  enum class Type : unsigned char { number, whole, word, flag };
  std::string name;
  std::string about;
  Type type = Type::number;
  double lowest = 0, highest = std::numeric_limits<double>::max();  ///< for number and whole
  std::vector<std::string> words = {};                              ///< for word: the allowed words
  std::optional<OptionValue> standard = {};                         ///< the default
  std::string otherwise = {};                                       ///< if there is no default: the behaviour, in words
  std::optional<OptionValue> former = {};                           ///< the default in the first edition, if it differs
  bool ends_only = false;  ///< it decides when the search ends, but not its candidates

  static OptionRule number(std::string name, std::string about, double lowest, double highest, double standard);
  static OptionRule whole(std::string name, std::string about, double lowest, double highest, double standard);
  /// `otherwise`: the behaviour without the option, in words.
  static OptionRule whole(std::string name, std::string about, double lowest, double highest, std::string otherwise);
  OptionRule formerly(OptionValue value) const;
  OptionRule that_only_ends() const;
  static OptionRule word(std::string name, std::string about, std::vector<std::string> words, std::string standard);
};

struct OptimizerInfo {
  std::string name;
  std::string about;
  bool needs_residuals = false;
  bool needs_reals = false;              ///< every parameter must be real and always active
  bool needs_order = false;              ///< no parameter may be categorical
  bool needs_bounds = false;             ///< every parameter must have both bounds
  bool one_objective = true;             ///< false: any number of objectives
  bool two_objectives = false;           ///< at most two
  bool seeded = true;                    ///< false: the seed does not change the candidates
  bool asynchronous = false;             ///< can be told in any order, and then always has a candidate
  std::vector<OptionRule> options = {};  ///< in alphabetical order
  Edition edition = Edition::first;      ///< the edition in which its candidates changed last
};

/// All optimizers in alphabetical order. Defined in catalogue/registry.cpp, which knows them.
const std::vector<OptimizerInfo>& optimizer_catalogue();
std::vector<std::string> optimizer_names();
/// The sentence that says that there is no optimizer of this name. It has a hint for a misspelt name, and for a name
/// from another library.
std::string unknown_optimizer(const std::string& name);
/// Null if the catalogue has no optimizer of that name.
const OptimizerInfo* find_optimizer(const std::string& name);

/// Why the optimizer cannot work on this, as a clause such as "needs residuals: …". Empty if it can.
std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield);

}  // namespace culmen
