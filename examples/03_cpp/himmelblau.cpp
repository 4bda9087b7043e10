// Minimizes a function of two parameters.
//
//   build/himmelblau                        evaluates in threads
//   culmen launch -n 5 build/himmelblau     evaluates on MPI ranks
#include <cmath>
#include <culmen/culmen.hpp>
#include <iostream>

int main() {
  const auto himmelblau = [](const std::vector<double>& p) {
    return std::pow(p[0] * p[0] + p[1] - 11, 2) + std::pow(p[0] + p[1] * p[1] - 7, 2);
  };
  try {
    const culmen::Space space{culmen::real("x", -6, 6), culmen::real("y", -6, 6)};
    const auto best = culmen::minimize(himmelblau, space, {.evaluations = 5000, .target = 1e-8});
    if (best.is_master) {
      std::cout << "f(" << best.x[0] << ", " << best.x[1] << ") = " << best.value << " after " << best.evaluations
                << " evaluations\n";
    }
  } catch (const culmen::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
