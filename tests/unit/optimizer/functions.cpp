#include "unit/optimizer/functions.hpp"

#include <algorithm>
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

Outcome zdt1(const std::vector<double>& x) {
  double g = 1;
  for (std::size_t i = 1; i < x.size(); ++i) g += 9 * x[i] / static_cast<double>(x.size() - 1);
  auto outcome = Outcome::of_value(x[0]);
  outcome.values = {x[0], g * (1 - std::sqrt(x[0] / g))};
  return outcome;
}

double gap_of_zdt1(const Front& front) {
  double largest = 0;
  for (int k = 0; k < 10; ++k) {
    const double f1 = 0.05 + 0.1 * k;
    double nearest = 1;
    for (const auto& m : front.members()) {
      const auto& v = m.outcome.values;
      nearest = std::min(nearest, std::hypot(v[0] - f1, v[1] - (1 - std::sqrt(f1))));
    }
    largest = std::max(largest, nearest);
  }
  return largest;
}

}  // namespace culmen
