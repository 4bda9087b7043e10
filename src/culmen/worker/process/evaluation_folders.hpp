// The folders in which commands run.
#pragma once
#include <string>
#include <string_view>

#include "culmen/base/ids.hpp"

namespace culmen {

/// Makes or replaces the file. If that fails, nothing happens.
void keep_text(const std::string& path, std::string_view text);
/// Adds to the file, which is made with its folder if it is missing. If that fails, nothing happens.
void add_text(const std::string& path, std::string_view text);

/// Gives each evaluation the folder `<working_folder>/<evaluation id>`. An empty folder is renamed for the next
/// evaluation: this is faster than making a new one, and a million evaluations that write nothing leave no million
/// folders. One object per evaluator; many may share a working folder.
class EvaluationFolders {
 public:
  /// Makes the working folder if it is missing. Throws InputError if it cannot.
  explicit EvaluationFolders(const std::string& working_folder);
  /// Removes the folder that is kept for the next evaluation.
  ~EvaluationFolders();
  EvaluationFolders(const EvaluationFolders&) = delete;
  EvaluationFolders& operator=(const EvaluationFolders&) = delete;

  /// Makes the evaluation's folder if it is missing, and returns its absolute path. Files of an earlier attempt stay in
  /// it. Throws ResourceError if it cannot be made.
  std::string enter(EvaluationId evaluation);
  /// The evaluation is over: keeps its folder unless it is empty.
  void leave(const std::string& folder);
  /// The same, but first removes everything in the folder.
  void empty(const std::string& folder);

 private:
  std::string working_folder_;
  std::string spare_;  // an empty folder, named after its last evaluation; empty text: none
};

}  // namespace culmen
