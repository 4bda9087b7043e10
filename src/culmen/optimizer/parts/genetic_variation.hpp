// How two children come from two parents.
#pragma once
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Simulated binary crossover within [0, 1] (Deb and Agrawal, Complex Systems 9 (1995) 115): the children of the places
/// `a` <= `b`, as far from each other as `u`, uniform in [0, 1), says: (2u)^(1/(eta + 1)) times as far for u <= 1/2,
/// (2 (1 - u))^(-1/(eta + 1)) times for more, where the bounds are far off; the density is cut off at the bounds.
std::pair<double, double> crossed(double a, double b, double eta, double u);

/// Polynomial mutation within [0, 1] (Deb and Goyal, Computer Science and Informatics 26 (1996) 30): the place `y` is
/// moved by as much as `u`, uniform in [0, 1), says: down for u < 1/2, else up, at most to the bound.
double mutated(double y, double eta, double u);

/// The middle of the cell of something discrete that a unit place is in.
double middle_of_cell(const Parameter& p, double u);

/// The operators of NSGA-II: crossover of reals and of cells of integers and ordinals with eta = 15, in 0.9 of the
/// pairs and there of half the parameters; mutation with eta = 20 of one parameter in each child on average, by at
/// least one cell. Categorical and boolean ones are exchanged, and mutate to any other choice.
class GeneticVariation {
 public:
  explicit GeneticVariation(const Space& space) : space_(space) {}
  std::pair<std::vector<double>, std::vector<double>> children(const std::vector<double>& a,
                                                               const std::vector<double>& b, Random& random) const;
  /// Parameter i mutated, from the place `y`.
  double changed(std::size_t i, double y, Random& random) const;

 private:
  void cross(std::size_t i, double& a, double& b, Random& random) const;
  void mutate(std::vector<double>& child, Random& random) const;

  const Space space_;
};

}  // namespace culmen
