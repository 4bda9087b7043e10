// Every combination of a few values of each parameter.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "culmen/space/space.hpp"

namespace culmen {

/// A point of a lattice is called by its index; the last parameter changes fastest.
class Lattice {
 public:
  /// size() of a lattice with this many points or more.
  static constexpr std::uint64_t most_points = std::uint64_t{1} << 53;

  /// `levels`: the values of each parameter, see levels_of().
  Lattice(const Space& space, std::vector<std::vector<double>> levels);
  /// The number of combinations; most_points if there are more.
  std::uint64_t size() const { return size_; }
  /// Combinations that differ only in inactive parameters are one point: that with the first value of each. Nothing for
  /// the others.
  std::optional<std::vector<double>> at(std::uint64_t index) const;

 private:
  Space space_;
  std::vector<std::vector<double>> levels_;
  std::uint64_t size_;
};

/// The size of a lattice with these levels.
std::uint64_t combinations(const std::vector<std::vector<double>>& levels);

}  // namespace culmen
