// Finds the arrangement of 13 atoms with the lowest energy, for the Lennard-Jones potential (epsilon = sigma = 1).
// The best known arrangement is an icosahedron with the energy -44.326801 (D. J. Wales and J. P. K. Doye,
// J. Phys. Chem. A 101 (1997) 5111).
//
// The energy has about a thousand local minima. Therefore each evaluation is a local minimization: it returns the
// energy of a local minimum near the candidate. The same paper calls this method "basin hopping".
//
//   build/lennard_jones                       13 atoms
//   build/lennard_jones 38 -173.9284 7        38 atoms; the target energy; the seed
//
// 38 atoms are a hard case: the search takes 1 000 to 50 000 local minimizations. It stops after 60 000.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <culmen/culmen.hpp>
#include <iostream>

namespace {
using Vector = std::vector<double>;

/// Energy of the atoms at x, with three coordinates per atom. Adds the forces to `force`.
double energy(const Vector& x, Vector& force) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    for (std::size_t j = 0; j < i; j += 3) {
      const double d[3] = {x[i] - x[j], x[i + 1] - x[j + 1], x[i + 2] - x[j + 2]};
      const double r2 = std::max(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 0.25);  // finite if atoms overlap
      const double s6 = 1 / (r2 * r2 * r2);
      sum += 4 * s6 * (s6 - 1);
      const double pull = 24 * s6 * (2 * s6 - 1) / r2;
      for (std::size_t k = 0; k < 3; ++k) {
        force[i + k] += pull * d[k];
        force[j + k] -= pull * d[k];
      }
    }
  }
  return sum;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Energy of a local minimum near x, by the method FIRE (E. Bitzek et al., Phys. Rev. Lett. 97 (2006) 170201).
double energy_of_basin(Vector x) {
  Vector velocity(x.size()), force(x.size());
  double step = 0.005, mixing = 0.1, value = energy(x, force);
  for (int quiet = 0, k = 0; k < 5000 && dot(force, force) > 1e-14; ++k) {
    const double power = dot(force, velocity), push = std::sqrt(dot(velocity, velocity) / dot(force, force));
    for (std::size_t i = 0; i < x.size(); ++i)
      velocity[i] = power > 0 ? (1 - mixing) * velocity[i] + mixing * push * force[i] : 0;
    quiet = power > 0 ? quiet + 1 : 0;
    if (quiet > 5) step = std::min(1.1 * step, 0.03), mixing *= 0.99;
    if (quiet == 0) step *= 0.5, mixing = 0.1;
    for (std::size_t i = 0; i < x.size(); ++i) {
      velocity[i] += step * force[i];
      const double move = step * velocity[i];
      x[i] += std::clamp(move, -0.1, 0.1);
    }
    std::fill(force.begin(), force.end(), 0);
    value = energy(x, force);
  }
  return value;
}
}  // namespace

int main(int argc, char** argv) {
  const int atoms = argc > 1 ? std::atoi(argv[1]) : 13;
  const double target = argc > 2 ? std::atof(argv[2]) : -44.3268;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const double half = 0.65 * std::cbrt(atoms);  // half the width of the box for the initial positions
  std::vector<culmen::Parameter> coordinates;
  for (int i = 1; i <= atoms; ++i) {
    for (const char* axis : {"x", "y", "z"}) coordinates.push_back(culmen::real(axis + std::to_string(i), -half, half));
  }
  try {
    const auto best = culmen::minimize(energy_of_basin, culmen::Space(coordinates),
                                       {.evaluations = 60000, .target = target, .optimizer = "cmaes", .seed = seed});
    if (!best.is_master) return 0;
    std::cout.precision(8);
    std::cout << "energy " << best.value << " after " << best.evaluations << " local minimizations\n";
    return best.value <= target ? 0 : 1;
  } catch (const culmen::Error& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
