// Functions to minimize, of vectors around [-5, 5]^n.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/evaluation/front.hpp"

namespace culmen {

inline double square(double x) { return x * x; }

/// Component i of where the sphere and the ellipsoid have their minimum, 0; Rastrigin's function at 0.9 of it.
double optimum(std::size_t i);
double sphere(const std::vector<double>& x);
/// Condition number 1e6.
double ellipsoid(const std::vector<double>& x);
double rosenbrock(const std::vector<double>& x);
double rastrigin(const std::vector<double>& x);

/// Two objectives of a vector in [0, 1]^n (Zitzler, Deb and Thiele 2000): the front is f2 = 1 - sqrt(f1).
Outcome zdt1(const std::vector<double>& x);
/// The largest distance of ten places on ZDT1's front to what was found.
double gap_of_zdt1(const Front& front);

}  // namespace culmen
