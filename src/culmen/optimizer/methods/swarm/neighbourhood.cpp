#include "culmen/optimizer/methods/swarm/neighbourhood.hpp"

namespace culmen::swarm {

Neighbourhood::Neighbourhood(std::size_t particles, Random& random) : informants_(particles) {
  for (std::size_t p = 0; p < particles; ++p) informants_[p].push_back(p);
  for (std::size_t p = 0; p < particles; ++p) {
    for (std::size_t k = 0; k < informed; ++k) informants_[random.below(particles)].push_back(p);
  }
}

std::size_t Neighbourhood::best_informant(std::size_t particle, const std::vector<Particle>& particles) const {
  std::size_t best = particle;
  for (const auto p : informants_[particle]) {
    if (particles[p].best_standing.better_than(particles[best].best_standing)) best = p;
  }
  return best;
}

}  // namespace culmen::swarm
