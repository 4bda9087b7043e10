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
  /// A number or a condition (`type`) of parameters and *figures*: a name that no parameter has is a figure, which is a
  /// number. Its vectors x are then vectors of the space, followed by the figures in the order of figures().
  Expression(std::string_view text, std::span<const Parameter> parameters, Type type);

  /// The number, or 1 or 0 for a condition.
  double value(std::span<const double> x) const { return number(root_, x); }
  bool holds(std::span<const double> x) const { return violation(x) == 0; }
  /// 0 if it holds, else > 0 and finite: the violations of comparisons, their sum under `and`, the least under `or`;
  /// 1 if nothing can be measured.
  double violation(std::span<const double> x) const;
  /// Appends the violation of each comparison under its outermost `and`: at most 0 if it holds; two numbers for an
  /// equality, one for each side. Always appends the same number of finite values. Smooth if the compared terms are,
  /// unlike violation().
  void slacks(std::span<const double> x, std::vector<double>& out) const { slacks(root_, true, x, out); }
  /// Indices of the parameters that it names, ascending.
  const std::vector<std::size_t>& names() const { return names_; }
  /// In the order in which it names them first.
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
