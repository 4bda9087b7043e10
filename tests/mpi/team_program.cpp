// A fit of a C++ program on teams of ranks: `team_program LIBRARY`, whose function sum_over calls MPI.
#include <dlfcn.h>

#include <cstdio>

#include "culmen/study/run/culmen.hpp"

int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) return 1;
  const auto sum_over = reinterpret_cast<double (*)(double, int)>(dlsym(library, "sum_over"));
  const auto residuals = [=](const std::vector<double>& x, int communicator) {
    return std::vector<double>{sum_over(x[0] - 2, communicator)};
  };
  const auto fit = culmen::least_squares(residuals, {culmen::real("a", -5, 5)}, {.evaluations = 40, .team_size = 2});
  const auto error = fit.errors.empty() ? 0 : fit.errors[0];
  std::printf("rank: %.4f errors %.4f\n", fit.x[0], error);
}
