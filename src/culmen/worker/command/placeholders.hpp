// Texts with places for the parameters' values: template files, words of a command, variables of its environment.
#pragma once
#include <string>
#include <vector>

#include "culmen/space/space.hpp"
#include "culmen/worker/command/parameter_text.hpp"

namespace culmen {

/// How a place is written. `words`: `{name}`, but not `${name}`, which belongs to the shell. `file`: `{{name}}`. Both
/// may hold a format after a colon (`{name:.6e}`; see ValueFormat), and blanks and tabs around name and format.
/// Anything else in braces is ordinary text, except for obvious mistakes. In a file, any `{{identifier}}` that is not a
/// parameter is a mistake. In a word without blanks, a name that differs from a parameter's in at most two letters is
/// one.
enum class PlaceholderStyle : unsigned char { words, file };

class PlaceholderText {
 public:
  /// Throws InputError with one sentence. `space` must outlive this object.
  PlaceholderText(const std::string& text, const Space& space, PlaceholderStyle style);
  std::string fill(const std::vector<double>& x) const;
  /// Marks the parameters that it has places for.
  void mark_used(std::vector<bool>& used) const;
  bool has_places() const { return !places_.empty(); }
  /// For a word without blanks: a text in braces that looks like a parameter but is not one. Empty: there is none.
  const std::string& stranger() const { return stranger_; }

 private:
  struct Place {
    std::string before;  // the text after the previous place
    std::size_t parameter;
    ValueFormat format;
  };
  /// False if the text in the braces is not a parameter.
  bool add(std::string before, const std::string& inside);
  /// Handles a text in braces at `at` that is not a parameter: throws if it must be a mistake.
  void see_unknown(const std::string& inside, const std::string& text, std::size_t at, PlaceholderStyle style);
  const Space* space_;
  std::vector<Place> places_;
  std::string rest_, stranger_;
};

}  // namespace culmen
