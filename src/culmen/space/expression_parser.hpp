// From an expression's text to its nodes. Internal to this folder.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "culmen/space/expression.hpp"

namespace culmen {

enum class Expression::Operation : unsigned char {
  constant,
  text,
  parameter,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  minimum,
  maximum,
  function,  ///< the first of the functions of one argument, in the order of their table
  last_function = function + 15,
  less,
  less_equal,
  equal,
  unequal,
  logical_and,
  logical_or,
  logical_not,
};

/// For an operation from `function` on.
double (*function_of(Expression::Operation operation))(double);

/// Recursive descent; as deep as the brackets nest, at most 100.
class ExpressionParser {
 public:
  /// has_figures: names that no parameter has are figures.
  ExpressionParser(Expression& out, std::span<const Parameter> parameters, bool has_figures)
      : out_(out), parameters_(parameters), has_figures_(has_figures) {}
  void parse(Expression::Type type);

 private:
  using Index = std::uint32_t;
  using Op = Expression::Operation;
  using Type = Expression::Type;
  enum class Token : unsigned char { end, number, name, quoted, sign };

  Index disjunction();
  Index conjunction();
  Index negation();
  Index comparison();
  Index sum();
  Index product();
  Index unary();
  Index power();
  Index atom();
  Index parameter(std::string_view name);
  Type type_of_choices(const Parameter& p);
  Index figure(std::string_view name);
  Index call(std::string_view name);
  Index among(Index left);
  Index compare(Index left, std::string_view sign, Index right);
  void check_text(Index parameter, Index text);

  void advance();
  void read_quoted(char quote, Token token);
  void read_sign();
  bool take(std::string_view sign);
  bool take_word(std::string_view word);
  void expect(std::string_view sign);
  Index add(Op operation, Type type, Index a = 0, Index b = 0, double number = 0);
  Index arithmetic(Op operation, Index a, Index b);
  void want(Index node, Type type, const char* what);
  [[noreturn]] void fail(const std::string& why) const;
  [[noreturn]] void fail_at_word(const std::string& why);  // the last name or string that was read
  std::string shown() const;

  Expression& out_;
  std::span<const Parameter> parameters_;
  bool has_figures_;
  std::size_t at_ = 0;  // after the token
  std::size_t token_at_ = 0;
  Token token_ = Token::end;
  std::size_t word_at_ = 0;
  std::string_view word_;  // of the token, without quotes
  double number_ = 0;
  int depth_ = 0;
};

}  // namespace culmen
