// Expressions of parameters and of results, as users write them: "x + 2*y <= 3 and method == 'ring'".
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/space/parameter.hpp"

namespace culmen {

/// A condition or a number, parsed once. Immutable and thread-safe.
///
/// Numbers, names of parameters (in backquotes if they are no identifiers), strings in quotes, true, false, pi;
/// + - * / % ** ^, abs sqrt exp log log2 log10 sin cos tan asin acos atan tanh floor ceil round min max; < <= > >= ==
/// != (chains as in 0 < x < y), in (…, …); and, or, not. An ordinal or categorical parameter is a number or a string,
/// as its choices are.
class Expression {
 public:
  enum class Type : unsigned char { number, truth, text };

  /// A condition of parameters. Throws InputError with the expression, the place in it, what was expected there, and a
  /// similar name.
  Expression(std::string_view text, std::span<const Parameter> parameters);
  /// A number or a condition (`type`) of parameters and *figures*. A name that no parameter has is a figure, which is a
  /// number. The vectors x must then contain the parameters, followed by the figures in the order of figures().
  Expression(std::string_view text, std::span<const Parameter> parameters, Type type);

  /// The number, or 1 or 0 for a condition.
  double value(std::span<const double> x) const { return number(root_, x); }
  bool holds(std::span<const double> x) const { return violation(x) == 0; }
  /// 0 if the condition holds, else positive and finite. `and` gives the sum of the violations of its comparisons, `or`
  /// the smallest one. A part without numbers to compare gives 1.
  double violation(std::span<const double> x) const;
  /// Appends the violation of each comparison under the outermost `and`, which is at most 0 if the comparison holds. An
  /// equality gives two numbers, one for each side. Always appends the same number of finite values. Smooth if the
  /// compared terms are, unlike violation().
  void slacks(std::span<const double> x, std::vector<double>& out) const { slacks(root_, true, x, out); }
  /// Indices of the parameters in the expression, ascending.
  const std::vector<std::size_t>& names() const { return names_; }
  /// Names of the figures, in the order of their first use.
  const std::vector<std::string>& figures() const { return figures_; }
  const std::string& text() const { return text_; }

  enum class Operation : unsigned char;
  struct Node {
    Operation operation;
    Type type;
    std::uint32_t a = 0, b = 0;  ///< operands; parameter: its index; text: in texts_
    double number = 0;
  };

 private:
  friend class ExpressionParser;
  Expression(std::string_view text, std::span<const Parameter> parameters, Type type, bool has_figures);
  double number(std::uint32_t node, std::span<const double> x) const;
  std::string_view text_at(std::uint32_t node, std::span<const double> x) const;
  double gap(std::uint32_t node, bool wanted, std::span<const double> x) const;
  void slacks(std::uint32_t node, bool wanted, std::span<const double> x, std::vector<double>& out) const;
  double slack(std::uint32_t node, bool wanted, std::span<const double> x) const;
  double comparison_gap(const Node& n, bool wanted, std::span<const double> x) const;

  std::string text_;
  std::vector<Node> nodes_;
  std::uint32_t root_ = 0;
  std::vector<std::string> texts_;
  std::vector<std::vector<Choice>> choices_;  // by parameter or figure; empty if it has none
  std::vector<std::size_t> names_;
  std::vector<std::string> figures_;
};

/// The expression of these arguments of its constructor. An InputError begins with `whose`.
template <class... Arguments>
Expression parsed(const std::string& whose, const Arguments&... arguments) {
  try {
    return Expression(arguments...);
  } catch (const InputError& e) {
    throw InputError(whose + ": " + e.what());
  }
}

}  // namespace culmen
