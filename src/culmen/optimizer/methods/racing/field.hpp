// The participants of a race.
#pragma once
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/sobol_sequence.hpp"
#include "culmen/space/space.hpp"

namespace culmen::racing {

/// All points of a space if there are at most `candidates`, in the order of "grid": the last parameter changes fastest.
std::optional<std::vector<std::vector<double>>> all_points(const Space& space, std::size_t candidates);

/// New candidates for the races of a larger space.
class Field {
 public:
  Field(const Space& space, std::uint64_t seed, std::size_t races);

  /// Fills `points` up to `size` with different points, which fulfil the constraints if such points are found. The
  /// first race uses a Sobol sequence. Later races sample around the existing points, as in irace (López-Ibáñez et al.,
  /// Operations Research Perspectives 3 (2016) 43), more often around the first ones. Numbers come from normal
  /// distributions that get narrower from race to race. Categorical parameters change less and less often.
  void fill(std::vector<std::vector<double>>& points, std::size_t size, std::size_t race);

 private:
  std::vector<double> anywhere();
  std::vector<double> about(const std::vector<double>& elite, double deviation, double keep);
  std::size_t parent(std::size_t elites);

  const Space space_;
  const std::size_t races_;
  Random random_;
  std::optional<SobolSequence> sobol_;  // empty if the space has too many parameters
};

}  // namespace culmen::racing
