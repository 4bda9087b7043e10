// Which particles of a swarm inform which others.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/swarm/particle.hpp"

namespace culmen::swarm {

/// The adaptive random topology of SPSO: each particle informs itself and three random ones, which may be the same. The
/// owner redraws it after a generation without an improvement.
class Neighbourhood {
 public:
  static constexpr std::size_t informed = 3;

  Neighbourhood() = default;
  Neighbourhood(std::size_t particles, Random& random);
  /// The particles that inform this one, itself included.
  const std::vector<std::size_t>& informants(std::size_t particle) const { return informants_[particle]; }
  /// The informant with the best known place; among equals the particle itself.
  std::size_t best_informant(std::size_t particle, const std::vector<Particle>& particles) const;

 private:
  std::vector<std::vector<std::size_t>> informants_;
};

}  // namespace culmen::swarm
