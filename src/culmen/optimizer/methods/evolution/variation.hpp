// How parents give children.
#pragma once
#include "culmen/optimizer/parts/individual.hpp"

namespace culmen::evolution {

enum class Crossover : unsigned char {
  none,
  discrete,      ///< each gene from one of the two
  intermediate,  ///< reals from between the two parents, others from one of them
};

/// After the mixed-integer evolution strategy of Li et al. (Evol. Comput. 21 (2013) 29). Steps mutate first:
/// log-normally, and probabilities by the logistic map. Genes then mutate by these steps: reals normally, integers and
/// ordinals by the difference of two geometric numbers. Categorical and boolean ones change to any other choice. Values
/// outside the range are mirrored back. The steps of an integer on a log scale are proportional to its value.
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
  double reals_ = 0, whole_ = 0, choices_ = 0;  // number of parameters of each kind
};

}  // namespace culmen::evolution
