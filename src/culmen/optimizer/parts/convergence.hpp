// When a population has nothing left to find.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Of one run. Only differences of values count, and only as shares of others, so a constant added to the objective, or
/// a factor on it, changes nothing.
class Convergence {
 public:
  /// `idle_generations`: the search is over after this many generations' worth of evaluations without an improvement.
  explicit Convergence(std::uint64_t idle_generations) : idle_generations_(idle_generations) {}
  /// Call this for each evaluation of the run. Returns true if it is the best so far.
  bool told(const Standing& standing);
  /// Whether the search is over: the members' values (best first) or their points (unit vectors) are so close that
  /// doubles can hardly distinguish them, or there was no improvement for too long.
  bool over(const Space& space, std::span<const Standing> standings,
            std::span<const std::vector<double>* const> points);

 private:
  std::uint64_t idle_generations_, idle_ = 0;
  Standing best_;
  std::optional<double> drop_;  // from the middle to the best of the first members it saw
};

}  // namespace culmen
