// The starting points of descents.
#pragma once
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/sobol_sequence.hpp"
#include "culmen/space/space.hpp"

namespace culmen::lm {

/// Points of the box, spread evenly over the magnitudes of the parameters by a Sobol sequence. If this has too few
/// dimensions, the points are independent.
class Starts {
 public:
  Starts(const Space& space, std::uint64_t seed);
  std::vector<double> fresh();
  /// `x` with new random values of one or more parameters.
  std::vector<double> changed(const std::vector<double>& x);

 private:
  const Space space_;
  Random random_;
  std::optional<SobolSequence> sequence_;
};

}  // namespace culmen::lm
