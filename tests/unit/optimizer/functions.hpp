// Functions to minimize, of vectors around [-5, 5]^n.
#pragma once
#include <cstddef>
#include <vector>

namespace culmen {

inline double square(double x) { return x * x; }

/// Component i of where the sphere and the ellipsoid have their minimum, 0; Rastrigin's function at 0.9 of it.
double optimum(std::size_t i);
double sphere(const std::vector<double>& x);
/// Condition number 1e6.
double ellipsoid(const std::vector<double>& x);
double rosenbrock(const std::vector<double>& x);
double rastrigin(const std::vector<double>& x);

}  // namespace culmen
