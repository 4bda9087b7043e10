// Prevents a normal distribution from freezing on integers.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/space/scaling.hpp"
#include "culmen/space/space.hpp"

namespace culmen::cmaes {

/// For discrete parameters in the unit cube: each leaves the cell of its mean with a probability of at least 1 / (n λ).
/// Hamano, Saito, Nomura and Shirakawa, "CMA-ES with margin" (GECCO 2022), move the mean for that, and require at least
/// half of the probability on either side. Here a least deviation ensures it, because the mean returns to the middle of
/// its cell (see Distribution).
class Margin {
 public:
  /// For spaces without discrete parameters.
  Margin() = default;
  /// population: λ, at least 3.
  Margin(const Space& space, std::size_t population);

  /// The discrete parameters, in ascending order. The other functions are for these only.
  const std::vector<std::size_t>& coordinates() const { return coordinates_; }
  bool discrete(std::size_t coordinate) const { return !coordinates_.empty() && space_[coordinate].discrete(); }
  Cell cell(std::size_t coordinate, double u) const { return cell_of(space_[coordinate], u); }
  /// The nearest mean between the middles of the outermost cells.
  double confined(std::size_t coordinate, double mean) const;
  /// The least standard deviation about a mean in that cell.
  double least_deviation(const Cell& cell) const;

 private:
  Space space_;
  std::vector<std::size_t> coordinates_;
  double to_one_tail_ = 1, to_two_tails_ = 1;  // in deviations: the distance beyond which that probability lies
};

}  // namespace culmen::cmaes
