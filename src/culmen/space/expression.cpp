#include "culmen/space/expression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "culmen/space/expression_parser.hpp"

namespace culmen {
namespace {
using Op = Expression::Operation;
constexpr double unmeasurable = 1e100;  // a comparison with a value that is not a number
constexpr double touching = 1e-300;     // a < b if they are equal

double apply(Op operation, double a, double b) {
  switch (operation) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::modulo:
      return a - b * std::floor(a / b);
    case Op::power:
      return std::pow(a, b);
    case Op::minimum:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::min(a, b);
    default:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
  }
}

/// How far a < b (strict) or a <= b is from being true.
double ordered_gap(double a, double b, bool strict) {
  const double gap = a - b;
  if (std::isnan(gap)) return a == b && !strict ? 0 : unmeasurable;  // equal infinities
  if (gap > 0) return std::min(gap, unmeasurable);
  return strict && gap == 0 ? touching : 0;
}

double measured(double difference) {
  return std::isnan(difference) ? unmeasurable : std::clamp(difference, -unmeasurable, unmeasurable);
}

double equality_gap(double a, double b, bool equal) {
  if (std::isnan(a) || std::isnan(b)) return unmeasurable;
  if (!equal) return a == b ? 1 : 0;
  const double gap = std::abs(a - b);
  return a == b ? 0 : std::isnan(gap) ? unmeasurable : std::min(gap, unmeasurable);
}
}  // namespace

Expression::Expression(std::string_view text, std::span<const Parameter> parameters)
    : Expression(text, parameters, Type::truth, false) {}

Expression::Expression(std::string_view text, std::span<const Parameter> parameters, Type type)
    : Expression(text, parameters, type, true) {}

Expression::Expression(std::string_view text, std::span<const Parameter> parameters, Type type, bool has_figures)
    : text_(text) {
  for (const auto& p : parameters) choices_.push_back(p.choices);
  ExpressionParser(*this, parameters, has_figures).parse(type);
  std::ranges::sort(names_);
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

double Expression::violation(std::span<const double> x) const { return gap(root_, true, x); }

double Expression::number(std::uint32_t node, std::span<const double> x) const {
  const auto& n = nodes_[node];
  if (n.operation == Op::constant) return n.number;
  if (n.operation == Op::parameter) {
    const auto& choices = choices_[n.a];
    return choices.empty() ? x[n.a] : number_in(choice_at(choices, x[n.a]));
  }
  if (n.type == Type::truth) return gap(node, true, x) == 0 ? 1 : 0;
  const double a = number(n.a, x);
  return n.operation >= Op::function ? function_of(n.operation)(a) : apply(n.operation, a, number(n.b, x));
}

std::string_view Expression::text_at(std::uint32_t node, std::span<const double> x) const {
  const auto& n = nodes_[node];
  if (n.operation == Op::text) return texts_[n.a];
  return std::get<std::string>(choice_at(choices_[n.a], x[n.a]));
}

double Expression::gap(std::uint32_t node, bool wanted, std::span<const double> x) const {
  const auto& n = nodes_[node];
  switch (n.operation) {
    case Op::logical_not:
      return gap(n.a, !wanted, x);
    case Op::logical_and:
    case Op::logical_or: {
      const double a = gap(n.a, wanted, x), b = gap(n.b, wanted, x);
      const bool both = (n.operation == Op::logical_and) == wanted;
      return both ? std::min(a + b, unmeasurable) : std::min(a, b);
    }
    case Op::constant:
    case Op::parameter:
      return (number(node, x) != 0) == wanted ? 0 : 1;
    default:
      return comparison_gap(n, wanted, x);
  }
}

void Expression::slacks(std::uint32_t node, bool wanted, std::span<const double> x, std::vector<double>& out) const {
  const auto& n = nodes_[node];
  if (n.operation == Op::logical_not) return slacks(n.a, !wanted, x, out);
  if (n.operation == (wanted ? Op::logical_and : Op::logical_or)) {
    slacks(n.a, wanted, x, out);
    return slacks(n.b, wanted, x, out);
  }
  const bool equality = n.operation == Op::equal || n.operation == Op::unequal;
  if (equality && (n.operation == Op::equal) == wanted && nodes_[n.a].type == Type::number) {
    const double difference = measured(number(n.a, x) - number(n.b, x));
    out.push_back(difference);
    out.push_back(std::abs(difference) == unmeasurable ? unmeasurable : -difference);
    return;
  }
  out.push_back(slack(node, wanted, x));
}

/// The largest violation of both sides if both must hold, else the smallest; 1 or -1 without a measure.
double Expression::slack(std::uint32_t node, bool wanted, std::span<const double> x) const {
  const auto& n = nodes_[node];
  if (n.operation == Op::logical_not) return slack(n.a, !wanted, x);
  if (n.operation == Op::logical_and || n.operation == Op::logical_or) {
    const double a = slack(n.a, wanted, x), b = slack(n.b, wanted, x);
    return (n.operation == Op::logical_and) == wanted ? std::max(a, b) : std::min(a, b);
  }
  if (n.operation == Op::less || n.operation == Op::less_equal) {
    const double difference = measured(number(n.a, x) - number(n.b, x));
    return wanted || difference == unmeasurable ? difference : -difference;
  }
  const double violation = gap(node, wanted, x);
  return violation > 0 ? violation : -1;
}

double Expression::comparison_gap(const Node& n, bool wanted, std::span<const double> x) const {
  const bool equality = n.operation == Op::equal || n.operation == Op::unequal;
  const bool equal = (n.operation == Op::equal) == wanted;
  if (nodes_[n.a].type == Type::text) return (text_at(n.a, x) == text_at(n.b, x)) == equal ? 0 : 1;
  const double a = number(n.a, x), b = number(n.b, x);
  if (equality) return equality_gap(a, b, equal);
  const bool strict = n.operation == Op::less;  // the parser has replaced > and >= by < and <=
  return wanted ? ordered_gap(a, b, strict) : ordered_gap(b, a, !strict);
}

}  // namespace culmen
