// Strategy parameters of one CMA-ES run.
#pragma once
#include <cstddef>
#include <vector>

namespace culmen::cmaes {

/// The defaults of Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv:1604.00772v2, table 1), active update
/// included. n: parameters, ≥ 1; population: candidates per generation, ≥ 3.
struct Constants {
  Constants(std::size_t n, std::size_t population);
  static std::size_t default_population(std::size_t n);  ///< 4 + ⌊3 ln n⌋

  std::size_t n;
  std::size_t population;
  std::vector<double>
      weights;  ///< by rank, best first; the positive ones sum to 1, the negative ones are scaled as in equations 49–53
  double mueff;
  double cs, damps;                ///< step-size path: learning rate and damping
  double cc, c1, cmu;              ///< covariance: path, rank one, rank mu
  double c1_scaling, cmu_scaling;  ///< of the diagonal: rank one, rank mu (Akimoto and Hansen 2020)
  std::size_t eigen_gap;           ///< generations between two eigendecompositions
};

/// Expected length of a standard normal vector of n components.
double expected_norm(std::size_t n);

}  // namespace culmen::cmaes
