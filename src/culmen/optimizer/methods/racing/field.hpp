// Who takes part in a race.
#pragma once
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/sobol_sequence.hpp"
#include "culmen/space/space.hpp"

namespace culmen::racing {

/// All points of a space where there are no more than `candidates`; in the order of "grid", the last parameter fastest.
std::optional<std::vector<std::vector<double>>> all_points(const Space& space, std::size_t candidates);

/// New candidates for the races of a larger space.
class Field {
 public:
  Field(const Space& space, std::uint64_t seed, std::size_t races);

  /// Fills `points` up to `size` with different ones, that fulfil the constraints where such are found: a Sobol
  /// sequence in the first race; in later ones samples about what is there, as in irace (López-Ibáñez, Dubois-Lacoste,
  /// Pérez Cáceres, Birattari and Stützle, Operations Research Perspectives 3 (2016) 43): about the earlier ones more,
  /// numbers from normal distributions that get narrower from race to race, choices more and more often the same.
  void fill(std::vector<std::vector<double>>& points, std::size_t size, std::size_t race);

 private:
  std::vector<double> anywhere();
  std::vector<double> about(const std::vector<double>& elite, double deviation, double keep);
  std::size_t parent(std::size_t elites);

  const Space space_;
  const std::size_t races_;
  Random random_;
  std::optional<SobolSequence> sobol_;  // there unless the space has too many parameters
};

}  // namespace culmen::racing
