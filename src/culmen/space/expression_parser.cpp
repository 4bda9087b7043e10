#include "culmen/space/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/base/near_word.hpp"

namespace culmen {
namespace {
using Op = Expression::Operation;
using Type = Expression::Type;
struct NamedFunction {
  std::string_view name;
  double (*function)(double);
};
constexpr int deepest = 100;
constexpr std::size_t longest = 10000;

constexpr std::array<NamedFunction, 16> functions{{
    {"abs", [](double v) { return std::abs(v); }},
    {"sqrt", [](double v) { return std::sqrt(v); }},
    {"exp", [](double v) { return std::exp(v); }},
    {"log", [](double v) { return std::log(v); }},
    {"log2", [](double v) { return std::log2(v); }},
    {"log10", [](double v) { return std::log10(v); }},
    {"sin", [](double v) { return std::sin(v); }},
    {"cos", [](double v) { return std::cos(v); }},
    {"tan", [](double v) { return std::tan(v); }},
    {"asin", [](double v) { return std::asin(v); }},
    {"acos", [](double v) { return std::acos(v); }},
    {"atan", [](double v) { return std::atan(v); }},
    {"tanh", [](double v) { return std::tanh(v); }},
    {"floor", [](double v) { return std::floor(v); }},
    {"ceil", [](double v) { return std::ceil(v); }},
    {"round", [](double v) { return std::round(v); }},
}};

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string no_number(std::string_view text, std::size_t at) {
  if (text[at] == '.' && at > 0 && in_name(text[at - 1]))
    return "got '.' after a name; write functions without a prefix, such as sin(x), and a name that contains '.' in "
           "backquotes";
  return fmt::format("expected a number, got '{}'", text[at]);
}

/// The word in this language for a sign of other languages.
std::string_view instead(char sign) {
  switch (sign) {
    case '&':
      return "; write 'and'";
    case '|':
      return "; write 'or'";
    case '!':
      return "; write 'not'";
    case '[':
      return "; write only the parameter's name";
    default:
      return "";
  }
}
}  // namespace

double (*function_of(Op operation))(double) {
  return functions.at(static_cast<std::size_t>(operation) - static_cast<std::size_t>(Op::function)).function;
}

void ExpressionParser::parse(Type type) {
  if (out_.text_.size() > longest) throw InputError(fmt::format("an expression is longer than {} characters", longest));
  advance();
  if (token_ == Token::end)
    fail(type == Type::truth ? "it is empty; write a condition such as x + y <= 1"
                             : "it is empty; write an expression such as 2 * x + y");
  out_.root_ = disjunction();
  if (token_ != Token::end) fail(fmt::format("expected the end or an operator, got {}", shown()));
  want(out_.root_, type, type == Type::truth ? "a condition, such as a comparison" : "a number");
}

ExpressionParser::Index ExpressionParser::disjunction() {
  if (++depth_ > deepest) fail("its brackets nest too deeply");
  Index left = conjunction();
  while (take_word("or")) {
    want(left, Type::truth, "a condition before 'or'");
    const Index right = conjunction();
    want(right, Type::truth, "a condition after 'or'");
    left = add(Op::logical_or, Type::truth, left, right);
  }
  --depth_;
  return left;
}

ExpressionParser::Index ExpressionParser::conjunction() {
  Index left = negation();
  while (take_word("and")) {
    want(left, Type::truth, "a condition before 'and'");
    const Index right = negation();
    want(right, Type::truth, "a condition after 'and'");
    left = add(Op::logical_and, Type::truth, left, right);
  }
  return left;
}

ExpressionParser::Index ExpressionParser::negation() {
  bool negative = false, any = false;
  while (take_word("not")) negative = !negative, any = true;
  const Index inner = comparison();
  if (any) want(inner, Type::truth, "a condition after 'not'");
  return negative ? add(Op::logical_not, Type::truth, inner) : inner;
}

ExpressionParser::Index ExpressionParser::comparison() {
  Index left = sum();
  if (take_word("in")) return among(left);
  Index all = left;
  bool first = true;
  while (token_ == Token::sign && (word_[0] == '<' || word_[0] == '>' || word_ == "==" || word_ == "!=")) {
    const auto sign = word_;
    advance();
    const Index right = sum();
    const Index one = compare(left, sign, right);
    all = first ? one : add(Op::logical_and, Type::truth, all, one);
    first = false;
    left = right;
  }
  if (token_ == Token::sign && word_ == "=") fail("got '='; compare with ==, <= or >=");
  return all;
}

ExpressionParser::Index ExpressionParser::among(Index left) {
  expect("(");
  Index any = compare(left, "==", sum());
  while (take(",")) {
    const Index one = compare(left, "==", sum());
    any = add(Op::logical_or, Type::truth, any, one);
  }
  expect(")");
  return any;
}

ExpressionParser::Index ExpressionParser::compare(Index left, std::string_view sign, Index right) {
  const bool equality = sign == "==" || sign == "!=";
  const auto l = out_.nodes_[left].type, r = out_.nodes_[right].type;
  if (l == Type::text || r == Type::text) {
    if (l != r) fail("a string is compared with a number; put quotes around a choice, none around a number");
    if (!equality) fail("strings can be compared only by == and !=");
    check_text(left, right);
    check_text(right, left);
  }
  if (equality) return add(sign == "==" ? Op::equal : Op::unequal, Type::truth, left, right);
  const auto operation = sign.size() == 1 ? Op::less : Op::less_equal;
  return sign[0] == '<' ? add(operation, Type::truth, left, right) : add(operation, Type::truth, right, left);
}

/// A string that the parameter can never take is a mistake.
void ExpressionParser::check_text(Index parameter, Index text) {
  if (out_.nodes_[parameter].operation != Op::parameter || out_.nodes_[text].operation != Op::text) return;
  const auto& p = parameters_[out_.nodes_[parameter].a];
  const auto& given = out_.texts_[out_.nodes_[text].a];
  std::vector<std::string> known;
  for (const auto& choice : p.choices) known.push_back(to_string(choice));
  if (std::find(known.begin(), known.end(), given) == known.end())
    fail_at_word(fmt::format("parameter '{}' is never '{}'{}", p.name, given, near_or_all(given, known)));
}

ExpressionParser::Index ExpressionParser::sum() {
  Index left = product();
  for (;;) {
    if (take("+")) left = arithmetic(Op::add, left, product());
    else if (take("-")) left = arithmetic(Op::subtract, left, product());
    else return left;
  }
}

ExpressionParser::Index ExpressionParser::product() {
  Index left = unary();
  for (;;) {
    if (take("*")) left = arithmetic(Op::multiply, left, unary());
    else if (take("/")) left = arithmetic(Op::divide, left, unary());
    else if (take("%")) left = arithmetic(Op::modulo, left, unary());
    else return left;
  }
}

ExpressionParser::Index ExpressionParser::unary() {
  bool negative = false, any = false;
  for (;; any = true) {
    if (take("-")) negative = !negative;
    else if (!take("+")) break;
  }
  const Index inner = power();
  if (any) want(inner, Type::number, "a number after a sign");
  return negative ? arithmetic(Op::subtract, add(Op::constant, Type::number), inner) : inner;
}

ExpressionParser::Index ExpressionParser::power() {
  const Index base = atom();
  if (!take("**") && !take("^")) return base;
  if (++depth_ > deepest) fail("its powers nest too deeply");
  const Index exponent = unary();
  --depth_;
  return arithmetic(Op::power, base, exponent);
}

ExpressionParser::Index ExpressionParser::atom() {
  if (token_ == Token::number) {
    const double value = number_;
    advance();
    return add(Op::constant, Type::number, 0, 0, value);
  }
  if (token_ == Token::quoted || token_ == Token::name) word_at_ = token_at_;
  if (token_ == Token::quoted) {
    out_.texts_.emplace_back(word_);
    advance();
    return add(Op::text, Type::text, static_cast<Index>(out_.texts_.size() - 1));
  }
  if (token_ == Token::name) {
    const auto name = word_;
    const bool in_backquotes = out_.text_[token_at_] == '`';
    advance();
    if (!in_backquotes && take("(")) return call(name);
    if (!in_backquotes && (name == "true" || name == "false"))
      return add(Op::constant, Type::truth, 0, 0, name == "true" ? 1 : 0);
    return parameter(name);
  }
  if (!take("(")) fail(fmt::format("expected a number, a name or '(', got {}", shown()));
  const Index inner = disjunction();
  expect(")");
  return inner;
}

ExpressionParser::Type ExpressionParser::type_of_choices(const Parameter& p) {
  if (p.choices.empty()) return Type::number;
  const std::string_view kind = kind_of(p.choices[0]);
  for (const auto& choice : p.choices)
    if (kind_of(choice) != kind)
      fail_at_word(fmt::format("parameter '{}' has choices of several types ({} and {}), so it cannot be compared",
                               p.name, to_string(p.choices[0]), to_string(choice)));
  return kind == "text" ? Type::text : kind == "truth" ? Type::truth : Type::number;
}

ExpressionParser::Index ExpressionParser::parameter(std::string_view name) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& p = parameters_[i];
    if (p.name != name) continue;
    out_.names_.push_back(i);
    if (p.kind == ParameterKind::boolean) return add(Op::parameter, Type::truth, static_cast<Index>(i));
    return add(Op::parameter, type_of_choices(p), static_cast<Index>(i));
  }
  if (name == "pi") return add(Op::constant, Type::number, 0, 0, std::numbers::pi);
  if (has_figures_) return figure(name);
  std::vector<std::string> known;
  for (const auto& p : parameters_) known.push_back(p.name);
  fail_at_word(fmt::format("there is no parameter '{}'{}", name, near_or_all(std::string(name), known)));
}

/// Figures follow the parameters in vectors.
ExpressionParser::Index ExpressionParser::figure(std::string_view name) {
  const auto found = std::ranges::find(out_.figures_, name);
  const auto k = static_cast<std::size_t>(found - out_.figures_.begin());
  if (found == out_.figures_.end()) {
    out_.figures_.emplace_back(name);
    out_.choices_.emplace_back();
  }
  return add(Op::parameter, Type::number, static_cast<Index>(parameters_.size() + k));
}

ExpressionParser::Index ExpressionParser::call(std::string_view name) {
  const auto at = word_at_;
  Index first = sum();
  word_at_ = at;
  if (name == "min" || name == "max") {
    while (take(",")) first = arithmetic(name == "min" ? Op::minimum : Op::maximum, first, sum());
    expect(")");
    return first;
  }
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (functions[f].name != name) continue;
    expect(")");
    return arithmetic(static_cast<Op>(static_cast<std::size_t>(Op::function) + f), first, first);
  }
  std::vector<std::string> known{"min", "max"};
  for (const auto& f : functions) known.emplace_back(f.name);
  fail_at_word(fmt::format("there is no function '{}'{}", name, near_or_all(std::string(name), known)));
}

void ExpressionParser::advance() {
  const std::string_view text = out_.text_;
  while (at_ < text.size() && std::isspace(static_cast<unsigned char>(text[at_])) != 0) ++at_;
  token_at_ = at_;
  token_ = Token::end;
  word_ = {};
  if (at_ == text.size()) return;
  const char c = text[at_];
  if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.') {
    const auto [end, error] = std::from_chars(text.data() + at_, text.data() + text.size(), number_);
    if (error != std::errc()) fail(no_number(text, at_));
    token_ = Token::number;
    at_ = static_cast<std::size_t>(end - text.data());
  } else if (begins_name(c)) {
    while (at_ < text.size() && in_name(text[at_])) ++at_;
    token_ = Token::name;
  } else if (c == '\'' || c == '"') {
    return read_quoted(c, Token::quoted);
  } else if (c == '`') {
    return read_quoted(c, Token::name);
  } else {
    return read_sign();
  }
  word_ = text.substr(token_at_, at_ - token_at_);
}

void ExpressionParser::read_quoted(char quote, Token token) {
  const auto end = out_.text_.find(quote, token_at_ + 1);
  if (end == std::string::npos) fail(fmt::format("the string that starts with {} has no end", quote));
  token_ = token;
  word_ = std::string_view(out_.text_).substr(token_at_ + 1, end - token_at_ - 1);
  at_ = end + 1;
}

void ExpressionParser::read_sign() {
  const std::string_view rest = std::string_view(out_.text_).substr(at_);
  token_ = Token::sign;
  for (const std::string_view sign : {"**", "<=", ">=", "==", "!="})
    if (rest.starts_with(sign)) word_ = rest.substr(0, 2);
  if (word_.empty()) word_ = rest.substr(0, 1);
  if (word_.size() == 1 && std::string_view("+-*/%^<>=(),").find(word_[0]) == std::string_view::npos)
    fail(fmt::format("{} is not allowed in an expression{}", shown(), instead(word_[0])));
  at_ += word_.size();
}

bool ExpressionParser::take(std::string_view sign) {
  if (token_ != Token::sign || word_ != sign) return false;
  advance();
  return true;
}

bool ExpressionParser::take_word(std::string_view word) {
  if (token_ != Token::name || word_ != word || out_.text_[token_at_] == '`') return false;
  advance();
  return true;
}

void ExpressionParser::expect(std::string_view sign) {
  if (!take(sign)) fail(fmt::format("expected '{}', got {}", sign, shown()));
}

ExpressionParser::Index ExpressionParser::add(Op operation, Type type, Index a, Index b, double number) {
  out_.nodes_.push_back({operation, type, a, b, number});
  return static_cast<Index>(out_.nodes_.size() - 1);
}

ExpressionParser::Index ExpressionParser::arithmetic(Op operation, Index a, Index b) {
  want(a, Type::number, "a number for this operation");
  want(b, Type::number, "a number for this operation");
  return add(operation, Type::number, a, b);
}

/// If a number is expected, a condition counts as 0 or 1.
void ExpressionParser::want(Index node, Type type, const char* what) {
  const auto given = out_.nodes_[node].type;
  if (given == type || (type == Type::number && given == Type::truth)) return;
  fail(fmt::format("expected {}, got a {}", what, given == Type::text ? "string" : "number"));
}

std::string ExpressionParser::shown() const {
  if (token_ == Token::end) return "the end";
  const auto rest = std::string_view(out_.text_).substr(token_at_);
  if (token_ != Token::sign) return fmt::format("'{}'", word_);
  std::size_t n = 1;  // the whole character, if it has several bytes
  while (n < rest.size() && (static_cast<unsigned char>(rest[n]) & 0xC0U) == 0x80U) ++n;
  return fmt::format("'{}'", word_.size() > 1 ? word_ : rest.substr(0, n));
}

void ExpressionParser::fail_at_word(const std::string& why) {
  token_at_ = word_at_;
  fail(why);
}

void ExpressionParser::fail(const std::string& why) const {
  throw InputError(fmt::format("\"{}\", character {}: {}", out_.text_, token_at_ + 1, why));
}

}  // namespace culmen
