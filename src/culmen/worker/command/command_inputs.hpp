// What an external command is given: words, variables, files, an object on its standard input.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "culmen/base/process.hpp"
#include "culmen/worker/command/command_protocol.hpp"
#include "culmen/worker/command/placeholders.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// Inactive parameters have no variable and stand in no object; in places stands what they are at rest.
///
/// Places are found and checked once, at the construction. Not copyable: its texts refer to its space.
class CommandInputs {
 public:
  /// Throws InputError with one sentence: no command, an unknown place, a format that is none, a template without
  /// places, and a parameter that nothing has a place for where there are templates, or where something else stands in
  /// braces in a word without blanks; two parameters of one variable.
  explicit CommandInputs(const SetUp& set_up);
  CommandInputs(const CommandInputs&) = delete;
  CommandInputs& operator=(const CommandInputs&) = delete;

  /// Sets the words after the first, and the variables.
  void set(const Candidate& candidate, Attempt attempt, SpawnRequest& request) const;
  /// Writes, copies and links the files of an evaluation into its folder, over those of an earlier attempt. Throws
  /// ResourceError where one cannot be.
  void place_files(const Candidate& candidate, const std::string& folder) const;
  /// The parameters as one JSON object.
  std::string as_json(const Candidate& candidate) const;

 private:
  struct File {
    std::string name;
    PlaceholderText text;
  };
  std::vector<double> at_rest(const Candidate& candidate) const;
  void check_use(const CommandSpec& spec) const;

  Space space_;
  CommandEnvironment variables_;
  std::vector<PlaceholderText> words_;
  std::map<std::string, PlaceholderText> environment_;
  std::vector<File> templates_;
  std::vector<InputFile> inputs_;
};

}  // namespace culmen
