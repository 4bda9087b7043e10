// Fits a line, without and with a constraint; prints the results as lines of JSON. See test_errors_from_cpp.py.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "culmen/study/run/culmen.hpp"

namespace {
std::vector<double> residuals(const std::vector<double>& p) {
  std::vector<double> out;
  for (int x = 0; x < 8; ++x) out.push_back((p[0] * x + p[1] - (0.5 * x + 1 + (x % 2 == 0 ? 0.1 : -0.1))) / 0.1);
  return out;
}

void fit(std::vector<culmen::Constraint> constraints) {
  auto a = culmen::real("a", -5, 5), b = culmen::real("b", -5, 5);
  a.initial = b.initial = 0.1;
  const culmen::Space space({a, b}, std::move(constraints));
  const auto found = culmen::least_squares(residuals, space, {.evaluations = 600, .workers = 1, .optimizer = "slsqp"});
  fmt::print("{{\"x\": [{}], \"errors\": [{}], \"message\": \"{}\"}}\n", fmt::join(found.x, ", "),
             fmt::join(found.errors, ", "), found.errors_message);
}
}  // namespace

int main() {
  fit({});
  fit({{"cap", "a + b <= 1.2"}});
  fit({{"far", "a + b <= 9"}});
}
