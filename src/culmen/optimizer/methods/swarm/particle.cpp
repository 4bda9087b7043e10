#include "culmen/optimizer/methods/swarm/particle.hpp"

#include <cmath>
#include <utility>

namespace culmen::swarm {

void Particle::place_at(Point where, Random& random) {
  x = std::move(where);
  velocity.resize(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) velocity[i] = random.uniform() - x[i];
}

void Particle::place_anywhere(std::size_t parameters, Random& random) {
  Point where(parameters);
  for (double& u : where) u = random.uniform();
  place_at(std::move(where), random);
}

void Particle::move(const Particle& guide, Random& random) {
  if (x.empty()) return place_anywhere(guide.best.size(), random);
  const bool own = !best_standing.failed(), others = &guide != this;
  const double pull = acceleration / (own && others ? 3 : 2);
  Point direction(x.size());
  double length = 0, radius = 0;  // squared
  for (std::size_t i = 0; i < x.size(); ++i) {
    direction[i] = random.normal();
    length += direction[i] * direction[i];
    const double to_centre = pull * ((own ? best[i] - x[i] : 0) + (others ? guide.best[i] - x[i] : 0));
    radius += to_centre * to_centre;
    velocity[i] = inertia * velocity[i] + to_centre;
  }
  const double reach = random.uniform() * std::sqrt(radius / length);
  for (std::size_t i = 0; i < x.size(); ++i) {
    velocity[i] += reach * direction[i];
    x[i] += velocity[i];
  }
  confine();
}

void Particle::confine() {
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] >= 0 && x[i] <= 1) continue;
    x[i] = x[i] < 0 ? 0 : 1;
    velocity[i] *= -0.5;
  }
}

void Particle::remember(Point where, const Standing& standing) {
  if (!best.empty() && !standing.better_than(best_standing)) return;
  best = std::move(where);
  best_standing = standing;
}

}  // namespace culmen::swarm
