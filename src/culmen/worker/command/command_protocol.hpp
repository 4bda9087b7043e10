// The parameters in the environment of an external command.
#pragma once
#include <string>
#include <vector>

#include "culmen/base/process.hpp"
#include "culmen/space/candidate.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Names of the environment variables for the parameters: CULMEN_PARAM_<NAME> in upper case, where _ replaces all
/// characters but letters and digits. Also the parameter's own name, if it is a shell identifier and neither this
/// process nor culmen has such a variable.
class CommandEnvironment {
 public:
  /// Throws InputError if two parameters need the same variable.
  explicit CommandEnvironment(const Space& space);
  /// Values are written as by to_string(Value), booleans as true and false. Inactive parameters have no variable.
  void set(const Candidate& candidate, EnvironmentChanges& environment) const;

 private:
  struct Variables {
    std::string prefixed;
    std::string plain;  // empty: none
  };
  Space space_;
  std::vector<Variables> of_parameter_;
};

}  // namespace culmen
