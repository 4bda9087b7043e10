// The parameters in the environment of an external command.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "culmen/space/candidate.hpp"
#include "culmen/space/space.hpp"

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

}  // namespace culmen
