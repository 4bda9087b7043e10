// Fits a line in several ways; prints the results as lines of JSON. See test_errors_from_cpp.py.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "culmen/study/run/culmen.hpp"

namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> residuals(const std::vector<double>& p) {
  std::vector<double> out;
  for (int x = 0; x < 8; ++x) out.push_back((p[0] * x + p[1] - (0.5 * x + 1 + (x % 2 == 0 ? 0.1 : -0.1))) / 0.1);
  return out;
}

/// NaN is no number of JSON.
std::string list(const std::vector<double>& numbers) {
  std::vector<std::string> out;
  for (const double v : numbers) out.push_back(std::isnan(v) ? "null" : fmt::format("{:.17g}", v));
  return fmt::format("[{}]", fmt::join(out, ", "));
}

void print(const culmen::MinimizeResult& found) {
  fmt::print("{{\"x\": {}, \"errors\": {}, \"sandwich\": {}, \"message\": \"{}\"}}\n", list(found.x),
             list(found.errors), list(found.sandwich), found.errors_message);
}

culmen::Parameter started(culmen::Parameter p, double at) {
  p.initial = at;
  return p;
}

void fit(std::vector<culmen::Constraint> constraints) {
  const culmen::Space space({started(culmen::real("a", -5, 5), 0.1), started(culmen::real("b", -5, 5), 0.1)},
                            std::move(constraints));
  print(culmen::least_squares(residuals, space, {.evaluations = 600, .workers = 1, .optimizer = "slsqp"}));
}

/// The parameters as test_errors_from_cpp.py has them; with an outlier. The residuals are multiples of `unit`, if
/// given.
void fit_with_outlier(std::vector<culmen::Parameter> parameters, culmen::Loss loss, double unit = 0) {
  const auto far = [unit](const std::vector<double>& p) {
    const double more = p.size() > 2 ? p[2] : 0;
    auto out = residuals({p[0], p[1] + more});
    out[5] += 20;
    if (unit > 0)
      for (auto& r : out) r = std::floor(r / unit + 0.5) * unit;
    return out;
  };
  const culmen::Space space(std::move(parameters));
  print(culmen::least_squares(far, space, {.evaluations = 600, .workers = 1, .optimizer = "lm", .loss = loss}));
}
}  // namespace

int main() {
  using culmen::real;
  fit({});
  fit({{"cap", "a + b <= 1.2"}});
  fit({{"far", "a + b <= 9"}});
  const auto a = started(real("a", -5, 5), 0.1), b = started(real("b", -5, 5), 0.1);
  for (const auto kind : {culmen::LossKind::linear, culmen::LossKind::soft_l1, culmen::LossKind::cauchy}) {
    const culmen::Loss loss{kind, 1.5};
    fit_with_outlier({a, b}, loss);
    fit_with_outlier({a, started(real("b", 1.2, 5), 2)}, loss);
    fit_with_outlier({a, b, started(real("c", -5, 5), 0.1)}, loss);
    fit_with_outlier({a, culmen::fixed_at(b, 1)}, loss);
    fit_with_outlier({started(real("a", 0.01, 5, culmen::Scale::log), 0.1), b}, loss);
    fit_with_outlier({started(real("a", -infinity, infinity), 0.1), started(real("b", -infinity, infinity), 0.1)},
                     loss);
    fit_with_outlier({started(real("a", 0, infinity), 0.1), b}, loss);
    fit_with_outlier({a, b}, loss, 1e-5);
  }
}
