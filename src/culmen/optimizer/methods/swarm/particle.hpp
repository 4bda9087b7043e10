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
  Point best;              ///< the best place it was at; empty: nobody told any yet
  Standing best_standing;  ///< of that

  /// With a velocity that leads to anywhere in the unit cube.
  void place_at(Point where, Random& random);
  /// Uniform in the unit cube.
  void place_anywhere(std::size_t parameters, Random& random);
  /// Draws a point of the ball around the centre of gravity of where it is and of a little beyond its own best place
  /// and the guide's (of the two alone where it is its own guide), the ball reaching to where it is; the radius is
  /// uniform, so the middle is denser. Where it would leave the unit cube it stays on the bound, and half its velocity
  /// turns round.
  void move(const Particle& guide, Random& random);
  void remember(Point where, const Standing& standing);

  static constexpr double inertia = 0.72134752044448170368;       ///< 1 / (2 ln 2)
  static constexpr double acceleration = 1.19314718055994530942;  ///< 1 / 2 + ln 2

 private:
  void confine();
};

}  // namespace culmen::swarm
