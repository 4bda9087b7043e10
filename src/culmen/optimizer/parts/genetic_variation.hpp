// How two parents give two children.
#pragma once
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Simulated binary crossover within [0, 1] (Deb and Agrawal, Complex Systems 9 (1995) 115). Returns the children of
/// the places `a` <= `b`. Their distance follows from `u`, which is uniform in [0, 1). Far from the bounds it is that
/// of the parents times (2u)^(1/(eta + 1)) for u <= 1/2, otherwise times (2 (1 - u))^(-1/(eta + 1)). The density is cut
/// off at the bounds.
std::pair<double, double> crossed(double a, double b, double eta, double u);

/// Polynomial mutation within [0, 1] (Deb and Goyal, Computer Science and Informatics 26 (1996) 30). Moves the place
/// `y` by a distance that follows from `u`, which is uniform in [0, 1): down if u < 1/2, otherwise up, and not beyond
/// the bound.
double mutated(double y, double eta, double u);

/// The middle of the cell in which a unit place of a discrete parameter lies.
double middle_of_cell(const Parameter& p, double u);

/// The operators of NSGA-II. Crossover of reals and of cells of integers and ordinals has eta = 15. It applies to 0.9
/// of the pairs, and there to half of the parameters. Mutation has eta = 20. It changes one parameter of each child on
/// average, by at least one cell. Categorical and boolean parameters are exchanged, and mutate to any other choice.
class GeneticVariation {
 public:
  explicit GeneticVariation(const Space& space) : space_(space) {}
  std::pair<std::vector<double>, std::vector<double>> children(const std::vector<double>& a,
                                                               const std::vector<double>& b, Random& random) const;
  /// The mutated value of parameter i, from the place `y`.
  double changed(std::size_t i, double y, Random& random) const;

 private:
  void cross(std::size_t i, double& a, double& b, Random& random) const;
  void mutate(std::vector<double>& child, Random& random) const;

  const Space space_;
};

}  // namespace culmen
