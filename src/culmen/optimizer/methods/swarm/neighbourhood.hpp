// Who informs whom in a swarm.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/swarm/particle.hpp"

namespace culmen::swarm {

/// The adaptive random topology of SPSO: each particle informs itself and three that are drawn, which may be the same.
/// Whoever owns it draws another one after a generation that found nothing better.
class Neighbourhood {
 public:
  static constexpr std::size_t informed = 3;

  Neighbourhood() = default;
  Neighbourhood(std::size_t particles, Random& random);
  /// Those who inform the particle, itself among them.
  const std::vector<std::size_t>& informants(std::size_t particle) const { return informants_[particle]; }
  /// Whose best place is best; itself among equals.
  std::size_t best_informant(std::size_t particle, const std::vector<Particle>& particles) const;

 private:
  std::vector<std::vector<std::size_t>> informants_;
};

}  // namespace culmen::swarm
