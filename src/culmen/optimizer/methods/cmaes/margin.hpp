// What keeps a normal distribution from freezing on integers.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/space/scaling.hpp"
#include "culmen/space/space.hpp"

namespace culmen::cmaes {

/// Of the discrete parameters in the unit cube: each leaves the cell where its mean lies with a probability of at least
/// 1 / (n λ). Hamano, Saito, Nomura and Shirakawa, "CMA-ES with margin" (GECCO 2022), where means move for that, and to
/// either side with half of it at least; here it is a least deviation, as the mean goes back to the middle of its cell
/// (see Distribution).
class Margin {
 public:
  /// Where nothing is discrete.
  Margin() = default;
  /// population: λ, at least 3.
  Margin(const Space& space, std::size_t population);

  /// Which parameters are discrete, in ascending order; what follows is of these alone.
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
  double to_one_tail_ = 1, to_two_tails_ = 1;  // in deviations, beyond which lies that probability
};

}  // namespace culmen::cmaes
