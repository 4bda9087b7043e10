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
/// whole text; residuals are all words outside extra figures. Figures: every such line is one. A last line of another
/// form must be a number, the only objective. Anything else is Status::wrong_shape.
Outcome read_command_output(std::string_view text, ResultKind kind);

/// Reads numbers from a text, from one source. For one number the time is linear in the text; for all matches of a
/// regular expression it is bounded.
class FigureReader {
 public:
  /// Throws InputError for an invalid regular expression.
  explicit FigureReader(const FigureSource& source);
  ~FigureReader();
  FigureReader(FigureReader&&) noexcept;
  const FigureSource& source() const { return source_; }
  /// One number: the last word, the one at the key, or the one in the last (or first) match. Throws Error with one
  /// sentence.
  double one(std::string_view text) const;
  /// All words (of a file: without lines that begin with #), the array at the key, or all matches; at least one number.
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
  /// The files that contain figures, relative to the evaluation's folder.
  const std::vector<std::string>& files() const { return files_; }
  /// Status::wrong_shape if something is missing or is not a number.
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
