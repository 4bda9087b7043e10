// The input of an external command: words, variables, files, an object on its standard input.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "culmen/base/process.hpp"
#include "culmen/worker/command/command_protocol.hpp"
#include "culmen/worker/command/placeholders.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// Inactive parameters have no variable and are left out of objects. Their places get their resting values.
///
/// The constructor finds and checks all places. Not copyable: its texts refer to its space.
class CommandInputs {
 public:
  /// Throws InputError with one sentence: if there is no command, for an unknown place, a bad format, a template
  /// without places, or two parameters with the same variable. Also for a parameter without a place, if there are
  /// templates or if a word without blanks has something else in braces.
  explicit CommandInputs(const SetUp& set_up);
  CommandInputs(const CommandInputs&) = delete;
  CommandInputs& operator=(const CommandInputs&) = delete;

  /// Sets the words after the first, and the variables.
  void set(const Candidate& candidate, Attempt attempt, SpawnRequest& request) const;
  /// Writes, copies and links the files of an evaluation into its folder, and overwrites those of an earlier attempt.
  /// Throws ResourceError if it cannot.
  void place_files(const Candidate& candidate, const std::string& folder) const;
  /// The parameters as one JSON object.
  std::string as_json(const Candidate& candidate) const;

 private:
  struct File {
    std::string name;
    PlaceholderText text;
  };
  std::vector<double> at_rest(const Candidate& candidate) const;
  void check_use(const SetUp& set_up) const;

  Space space_;
  CommandEnvironment variables_;
  std::vector<PlaceholderText> words_;
  std::map<std::string, PlaceholderText> environment_;
  std::vector<std::string> removed_;  // variables
  std::vector<File> templates_;
  std::vector<InputFile> inputs_;
};

}  // namespace culmen
