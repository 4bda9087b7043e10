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
  /// `idle_generations`: after so many generations' worth of evaluations without a better one it is over.
  explicit Convergence(std::uint64_t idle_generations) : idle_generations_(idle_generations) {}
  /// Of each evaluation of the run; true: it is the best so far.
  bool told(const Standing& standing);
  /// Whether the members' values, the best first, or their points (unit vectors) lie together as closely as doubles
  /// allow to tell them apart, or nothing became better for too long.
  bool over(const Space& space, std::span<const Standing> standings,
            std::span<const std::vector<double>* const> points);

 private:
  std::uint64_t idle_generations_, idle_ = 0;
  Standing best_;
  std::optional<double> drop_;  // from the middle to the best of the first members it saw
};

}  // namespace culmen
