// How a trial is made from a population.
#pragma once
#include "culmen/optimizer/methods/de/memory.hpp"
#include "culmen/optimizer/methods/de/population.hpp"
#include "culmen/space/space.hpp"

namespace culmen::de {

/// current-to-pbest/1/bin with an archive (JADE: Zhang and Sanderson, IEEE Trans. Evol. Comput. 13 (2009) 945). A gene
/// that would leave [0, 1] goes half the way from its parent to the bound.
///
/// Unordered parameters (categorical, boolean) have no differences. Such a gene of the mutant is the parent's; with
/// probability `factor` it is that of the pbest. If the two points of the difference disagree, it is with probability
/// `factor` that of the first. In one of ten trials on average one of these genes is random, so that no choice is lost.
class Variation {
 public:
  explicit Variation(const Space& space);
  /// `place` and at least `least_parents` places must be filled.
  Point trial(const Population& population, const Archive& archive, std::size_t place, const Strategy& strategy,
              Random& random) const;
  /// Uniform in the unit cube.
  Point anywhere(Random& random) const;

  static constexpr std::size_t least_parents = 4;

 private:
  struct Parents;
  double number(const Parents& parents, std::size_t gene, double factor) const;
  double choice(const Parents& parents, std::size_t gene, double factor, Random& random) const;

  std::vector<double> cells_;  // number of cells of unordered parameters; 0 for others
  double choices_ = 0;         // number of unordered parameters
};

}  // namespace culmen::de
