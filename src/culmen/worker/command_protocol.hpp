// What an external command is given, and how what it prints is read.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/worker/evaluator.hpp"

namespace culmen {

/// Names of the environment variables that carry the parameters: CULMEN_PARAM_<NAME> (upper case, anything but letters
/// and digits becomes _), and the parameter's own name where that is a shell identifier and no variable of this
/// process, nor one of culmen's, has it.
class CommandEnvironment {
 public:
  /// Throws InputError when two parameters need the same variable.
  explicit CommandEnvironment(const Space& space);
  /// As to_string(Value) has it, booleans as true and false; inactive parameters have no variable.
  void set(const Candidate& candidate, std::map<std::string, std::string>& environment) const;

 private:
  struct Variables {
    std::string prefixed;
    std::string plain;  // empty: none
  };
  Space space_;
  std::vector<Variables> of_parameter_;
};

/// Lines `name = number` before the last line that is not blank are extra figures. The value is the last word of the
/// whole text; residuals are all words that are not in extra figures. Figures: every such line is one; a last
/// line that is none is a number, the only objective. Anything else is Status::wrong_shape.
Outcome read_command_output(std::string_view text, ResultKind kind);

}  // namespace culmen
