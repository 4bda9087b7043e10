// Texts with places for the parameters' values: template files, words of a command, variables of its environment.
#pragma once
#include <string>
#include <vector>

#include "culmen/space/space.hpp"
#include "culmen/worker/command/parameter_text.hpp"

namespace culmen {

/// How a place is written. `words`: `{name}`, but for `${name}`, which is a shell's. `file`: `{{name}}`. Both may hold
/// a format behind a colon (`{name:.6e}`; see ValueFormat), and blanks and tabs around either. Whatever else stands in
/// braces is text like any other, but for what must be a mistake: in a file any `{{identifier}}` that is no parameter,
/// in a word without blanks one that is a parameter's but for two letters.
enum class PlaceholderStyle : unsigned char { words, file };

class PlaceholderText {
 public:
  /// Throws InputError with one sentence; `space` has to outlive this.
  PlaceholderText(const std::string& text, const Space& space, PlaceholderStyle style);
  std::string fill(const std::vector<double>& x) const;
  /// Marks the parameters that it has places for.
  void mark_used(std::vector<bool>& used) const;
  bool has_places() const { return !places_.empty(); }
  /// Of a word without blanks: what stands in braces as a parameter would, and is none; empty: nothing does.
  const std::string& stranger() const { return stranger_; }

 private:
  struct Place {
    std::string before;  // the text since the former place
    std::size_t parameter;
    ValueFormat format;
  };
  /// False where what is inside the braces is no parameter.
  bool add(std::string before, const std::string& inside);
  /// What is inside the braces at `at` is no parameter: throws where that must be a mistake.
  void see_unknown(const std::string& inside, const std::string& text, std::size_t at, PlaceholderStyle style);
  const Space* space_;
  std::vector<Place> places_;
  std::string rest_, stranger_;
};

}  // namespace culmen
