// What an optimizer says about itself: what it is for, what it needs and which options it has.
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

/// All that there are, in alphabetical order. The rooms above know them: catalogue/registry.cpp defines these two.
const std::vector<OptimizerInfo>& optimizer_catalogue();
std::vector<std::string> optimizer_names();

/// Why the optimizer cannot work on this: one clause, such as "it needs residuals, …"; empty where it can.
std::string obstacle(const OptimizerInfo& optimizer, const Space& space, const Yield& yield);

}  // namespace culmen
