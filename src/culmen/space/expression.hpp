// Conditions and constraints over parameters, as users write them: "x + 2*y <= 3 and method == 'ring'".
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "culmen/space/parameter.hpp"

namespace culmen {

/// A condition, parsed once. Immutable and thread-safe.
///
/// Numbers, names of parameters (in backquotes where they are no identifier), texts in quotes, true, false, pi;
/// + - * / % ** ^, abs sqrt exp log log2 log10 sin cos tan floor ceil round min max; < <= > >= == != (chains as in
/// 0 < x < y), in (…, …); and, or, not. An ordinal or categorical parameter of numbers is such a number, of texts a
/// text.
class Expression {
 public:
  /// Throws InputError: the expression, where in it, what is wanted there, a name that is near.
  Expression(std::string_view text, std::span<const Parameter> parameters);

  bool holds(std::span<const double> x) const { return violation(x) == 0; }
  /// 0 where it holds, else > 0 and finite: how far comparisons are from holding, their sum under `and`, the least
  /// under `or`; 1 where there is nothing to measure.
  double violation(std::span<const double> x) const;
  /// Appends how far each comparison under its outermost `and` is from not holding: below or equal 0 where it holds,
  /// of an equality one figure for either side. Always as many; finite. Smooth where the compared terms are, unlike
  /// violation().
  void slacks(std::span<const double> x, std::vector<double>& out) const { slacks(root_, true, x, out); }
  /// Indices of the parameters that it names, ascending.
  const std::vector<std::size_t>& names() const { return names_; }
  const std::string& text() const { return text_; }

  enum class Operation : unsigned char;
  enum class Type : unsigned char { number, truth, text };
  struct Node {
    Operation operation;
    Type type;
    std::uint32_t a = 0, b = 0;  ///< operands; parameter: its index; text: in texts_
    double number = 0;
  };

 private:
  friend class ExpressionParser;
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
  std::vector<std::vector<Choice>> choices_;  // by parameter; empty where it has none
  std::vector<std::size_t> names_;
};

}  // namespace culmen
