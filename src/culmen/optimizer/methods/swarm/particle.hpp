// One particle of a swarm.
#pragma once
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::swarm {

using Point = std::vector<double>;  ///< a unit vector

/// Moves as SPSO 2011 says (Clerc 2012, section 3).
struct Particle {
  Point x, velocity;
  Point best;              ///< the best place so far; empty: no result was told yet
  Standing best_standing;  ///< the standing of `best`

  /// Its velocity leads to a random point of the unit cube.
  void place_at(Point where, Random& random);
  /// A random point of the unit cube.
  void place_anywhere(std::size_t parameters, Random& random);
  /// Draws a point of a ball. Its centre is the centre of gravity of the particle's place and of points slightly beyond
  /// its own best place and the guide's. If the particle is its own guide, only the first two count. The ball reaches
  /// to the particle's place. The radius is uniform, so the middle is denser. A move out of the unit cube ends on the
  /// bound and reverses half of the velocity.
  void move(const Particle& guide, Random& random);
  void remember(Point where, const Standing& standing);

  static constexpr double inertia = 0.72134752044448170368;       ///< 1 / (2 ln 2)
  static constexpr double acceleration = 1.19314718055994530942;  ///< 1 / 2 + ln 2

 private:
  void confine();
};

}  // namespace culmen::swarm
