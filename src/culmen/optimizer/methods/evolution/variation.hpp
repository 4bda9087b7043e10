// How children come from parents.
#pragma once
#include "culmen/optimizer/parts/individual.hpp"

namespace culmen::evolution {

enum class Crossover : unsigned char {
  none,
  discrete,      ///< each gene from one of the two
  intermediate,  ///< reals from between the two, others from one of them
};

/// After the mixed-integer evolution strategy of Li et al. (Evol. Comput. 21 (2013) 29): steps mutate first
/// (log-normally; probabilities by the logistic map), then genes by them: reals normally, integers and ordinals by the
/// difference of two geometric numbers, categorical and boolean ones to any other of their choices. What leaves its
/// range is mirrored back. An integer on a log scale takes steps in proportion to itself.
class Variation {
 public:
  Variation(const Space& space, Crossover crossover);
  /// A child of one parent, or of two.
  Individual child(const Individual& parent, const Individual& other, Random& random) const;

 private:
  void cross(Individual& child, const Individual& other, Random& random) const;
  void mutate(Individual& child, Random& random) const;
  double changed(const Parameter& p, double gene, double step, Random& random) const;

  const Space space_;
  Crossover crossover_;
  double reals_ = 0, whole_ = 0, choices_ = 0;  // how many of a kind
};

}  // namespace culmen::evolution
