// A fit of a C++ program: every rank prints its result and the errors of the parameters.
#include <cstdio>

#include "culmen/study/run/culmen.hpp"

int main() {
  const auto residuals = [](const std::vector<double>& x) {
    return std::vector<double>{x[0] - 1, 2 * (x[1] - 2), 2 * (x[1] - 2)};
  };
  const culmen::Space space{culmen::real("a", -5, 5), culmen::real("b", -5, 5)};
  const auto fit = culmen::least_squares(residuals, space, {.evaluations = 300});
  std::printf("rank: %.6f %.6f errors %.6f %.6f\n", fit.x[0], fit.x[1], fit.errors[0], fit.errors[1]);
}
