// Fits of a C++ program: every rank prints its result and the errors of the parameters, or why there are none.
#include <cstdio>
#include <stdexcept>

#include "culmen/study/run/culmen.hpp"

int main() {
  const auto residuals = [](const std::vector<double>& x) {
    return std::vector<double>{x[0] - 1, 2 * (x[1] - 2), 2 * (x[1] - 2)};
  };
  const culmen::Space space{culmen::real("a", -5, 5), culmen::real("b", -5, 5)};
  const auto fit = culmen::least_squares(residuals, space, {.evaluations = 300});
  std::printf("rank: %.6f %.6f errors %.6f %.6f\n", fit.x[0], fit.x[1], fit.errors[0], fit.errors[1]);

  const auto fragile = [&](const std::vector<double>& x) {
    if (x != std::vector<double>{1, 2}) throw std::runtime_error("only the start\nworks");
    return residuals(x);
  };
  const culmen::MinimizeOptions options{.evaluations = 1, .starts = {{1, 2}}, .optimizer = "random"};
  const auto lost = culmen::least_squares(fragile, space, options);
  std::printf("%zu errors: %s\n", lost.errors.size(), lost.errors_message.c_str());
}
