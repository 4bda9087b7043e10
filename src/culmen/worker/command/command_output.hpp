// Reads the output of an external command, which may be anything.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/worker/core/evaluator_spec.hpp"

namespace re2 {
class RE2;
}

namespace culmen {

/// Lines `name = number` before the last line that is not blank are extra figures. The value is the last word of the
/// whole text; residuals are all words that are not in extra figures. Figures: every such line is one; a last
/// line that is none is a number, the only objective. Anything else is Status::wrong_shape.
Outcome read_command_output(std::string_view text, ResultKind kind);

/// Takes numbers from a text by one source. Time is linear in the text for one number; for all matches of a regular
/// expression it is bounded.
class FigureReader {
 public:
  /// Throws InputError for a regular expression that is none.
  explicit FigureReader(const FigureSource& source);
  ~FigureReader();
  FigureReader(FigureReader&&) noexcept;
  const FigureSource& source() const { return source_; }
  /// One number: the last word, the one at the key, that of the last (or first) match. Throws Error with one sentence.
  double one(std::string_view text) const;
  /// All words (of a file: but for lines that begin with #), the array at the key, all matches; at least one number.
  /// Throws Error.
  std::vector<double> all(std::string_view text) const;

 private:
  std::string place() const;
  std::vector<std::string_view> matches(std::string_view text, bool first_alone) const;
  FigureSource source_;
  std::unique_ptr<re2::RE2> regex_;
};

/// All figures of a command.
class CommandOutput {
 public:
  /// Throws InputError as FigureReader does.
  explicit CommandOutput(const SetUp& set_up);
  /// Files that figures are read from; relative to the evaluation's folder.
  const std::vector<std::string>& files() const { return files_; }
  /// Status::wrong_shape where something is missing or is no number.
  Outcome read(const std::string& printed, const std::string& folder) const;

 private:
  Outcome read_sources(const std::string& printed, const std::string& folder) const;
  Goals goals_;
  ResultKind result_;
  std::vector<FigureReader> readers_;
  std::size_t main_ = 0;  // the reader of the value, or of the residuals
  std::vector<std::string> files_;
};

}  // namespace culmen
