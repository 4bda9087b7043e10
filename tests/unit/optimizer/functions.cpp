#include "unit/optimizer/functions.hpp"

#include <cmath>
#include <numbers>

namespace culmen {

using Point = std::vector<double>;

double optimum(std::size_t i) { return 3 * std::sin(static_cast<double>(i) + 1); }

double sphere(const Point& x) {
  double f = 0;
  for (std::size_t i = 0; i < x.size(); ++i) f += square(x[i] - optimum(i));
  return f;
}

double ellipsoid(const Point& x) {
  double f = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    f += std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * square(x[i] - optimum(i));
  return f;
}

double rosenbrock(const Point& x) {
  double f = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) f += 100 * square(x[i + 1] - x[i] * x[i]) + square(1 - x[i]);
  return f;
}

double rastrigin(const Point& x) {
  double f = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double y = x[i] - 0.9 * optimum(i);
    f += 10 + y * y - 10 * std::cos(2 * std::numbers::pi * y);
  }
  return f;
}

}  // namespace culmen
