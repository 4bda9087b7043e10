// How a trial comes from a population.
#pragma once
#include "culmen/optimizer/methods/de/memory.hpp"
#include "culmen/optimizer/methods/de/population.hpp"
#include "culmen/space/space.hpp"

namespace culmen::de {

/// current-to-pbest/1/bin with an archive (JADE: Zhang and Sanderson, IEEE Trans. Evol. Comput. 13 (2009) 945). A gene
/// that would leave [0, 1] goes half the way from its parent to the bound.
///
/// What has no order (categorical, boolean) knows no differences: each such gene of the mutant is that of the parent,
/// with probability `factor` that of the pbest; where the two points of the difference disagree, with probability
/// `factor` that of the first; and once in ten trials on average one of these genes is any, so that no choice is lost.
class Variation {
 public:
  explicit Variation(const Space& space);
  /// `place` is filled, and so are at least `least_parents` places.
  Point trial(const Population& population, const Archive& archive, std::size_t place, const Strategy& strategy,
              Random& random) const;
  /// Uniform in the unit cube.
  Point anywhere(Random& random) const;

  static constexpr std::size_t least_parents = 4;

 private:
  struct Parents;
  double number(const Parents& parents, std::size_t gene, double factor) const;
  double choice(const Parents& parents, std::size_t gene, double factor, Random& random) const;

  std::vector<double> cells_;  // of what has no order; else 0
  double choices_ = 0;         // how many of these
};

}  // namespace culmen::de
