// The particle swarm: its rules as the paper says them, and what it finds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "culmen/optimizer/methods/swarm/neighbourhood.hpp"
#include "culmen/optimizer/methods/swarm/particle.hpp"
#include "unit/optimizer/functions.hpp"
#include "unit/optimizer/study.hpp"

namespace culmen {
namespace {
using swarm::Neighbourhood, swarm::Particle, swarm::Point;

Standing valued(double value) { return {Standing::Fate::ok, value}; }

Particle particle_at(Point x, Point velocity, Point best, double value) {
  return {std::move(x), std::move(velocity), std::move(best), valued(value)};
}

TEST(SwarmParticle, has_the_constants_of_the_standard) {
  EXPECT_DOUBLE_EQ(Particle::inertia, 1 / (2 * std::numbers::ln2));
  EXPECT_DOUBLE_EQ(Particle::acceleration, 0.5 + std::numbers::ln2);
  EXPECT_EQ(Neighbourhood::informed, 3U);
}

/// Distances of where it comes to from the middle of the ball, as shares of its radius.
std::vector<double> shares(const Particle& begin, const Particle* guide, const Point& middle) {
  Random random(1);
  std::vector<double> out;
  for (int k = 0; k < 4000; ++k) {
    auto p = begin;
    p.move(guide != nullptr ? *guide : p, random);
    double distance = 0, radius = 0;
    for (std::size_t i = 0; i < middle.size(); ++i) {
      distance += square(p.x[i] - Particle::inertia * begin.velocity[i] - middle[i]);
      radius += square(begin.x[i] - middle[i]);
    }
    out.push_back(std::sqrt(distance / radius));
  }
  return out;
}

void expect_uniform(const std::vector<double>& shares) {
  double mean = 0;
  for (const double s : shares) mean += s / static_cast<double>(shares.size());
  EXPECT_LE(std::ranges::max(shares), 1 + 1e-9);
  EXPECT_GT(std::ranges::max(shares), 0.99);
  EXPECT_NEAR(mean, 0.5, 0.02);
}

TEST(SwarmParticle, moves_into_the_ball_around_the_centre_of_gravity) {
  const double c = Particle::acceleration;
  const auto guide = particle_at({}, {}, {0.6, 0.5, 0.5}, 0);
  const auto p = particle_at({0.5, 0.5, 0.5}, {0.01, -0.02, 0}, {0.5, 0.53, 0.5}, 1);
  expect_uniform(shares(p, &guide, {0.5 + c * 0.1 / 3, 0.5 + c * 0.03 / 3, 0.5}));
}

TEST(SwarmParticle, moves_around_its_own_best_alone_where_it_is_its_own_guide) {
  const auto p = particle_at({0.5, 0.5}, {0.01, -0.02}, {0.5, 0.6}, 1);
  expect_uniform(shares(p, nullptr, {0.5, 0.5 + Particle::acceleration * 0.1 / 2}));
}

TEST(SwarmParticle, stays_on_the_bound_with_half_its_velocity_turned_round) {
  Random random(1);
  auto p = particle_at({0.9, 0.2}, {0.5, -0.6}, {0.9, 0.2}, 1);
  p.move(p, random);
  EXPECT_EQ(p.x, (Point{1, 0}));
  EXPECT_DOUBLE_EQ(p.velocity[0], -0.5 * Particle::inertia * 0.5);
  EXPECT_DOUBLE_EQ(p.velocity[1], 0.5 * Particle::inertia * 0.6);
}

TEST(SwarmParticle, remembers_the_better_place) {
  Particle p;
  p.remember({0.1}, {});
  EXPECT_EQ(p.best, Point{0.1}) << "a failure before nothing";
  p.remember({0.2}, valued(5));
  p.remember({0.3}, valued(6));
  p.remember({0.4}, {Standing::Fate::infeasible, 0.1});
  EXPECT_EQ(p.best, Point{0.2});
}

TEST(SwarmNeighbourhood, has_each_inform_itself_and_three) {
  Random random(1);
  const Neighbourhood neighbourhood(40, random);
  std::size_t all = 0, alone = 0;
  for (std::size_t p = 0; p < 40; ++p) {
    all += neighbourhood.informants(p).size();
    alone += neighbourhood.informants(p).size() == 1 ? 1 : 0;
    EXPECT_EQ(neighbourhood.informants(p)[0], p);
  }
  EXPECT_EQ(all, 160U);
  EXPECT_LT(alone, 10U) << "1 in 20 has no other informant";
}

TEST(SwarmNeighbourhood, names_the_best_informant) {
  Random random(1);
  std::vector<Particle> particles(6);
  for (std::size_t p = 0; p < 6; ++p) particles[p].remember({0.5}, valued(static_cast<double>(6 - p)));
  const Neighbourhood neighbourhood(6, random);
  for (std::size_t p = 0; p < 6; ++p)
    EXPECT_EQ(neighbourhood.best_informant(p, particles), std::ranges::max(neighbourhood.informants(p)));
}

std::size_t median(const Space& space, TestFunction objective, double target) {
  return median_evaluations({"swarm", space, std::move(objective), target, 100000, {}}, 11);
}

TEST(Swarm, finds_minima_of_reals) {
  EXPECT_LE(median(cube(5, -5, 5), sphere, 1e-8), 1900U);
  EXPECT_LE(median(cube(20, -5, 5), sphere, 1e-8), 11000U);
  EXPECT_LE(median(cube(2, -5, 10), rosenbrock, 1e-6), 6000U);
  EXPECT_LE(median(cube(3, -5, 5), rastrigin, 1e-8), 20000U);
}

TEST(Swarm, finds_integers_and_reals_together) {
  const Space space{real("x", -5, 5), integer("n", -20, 20), integer("m", 1, 10000, Scale::log), boolean("on")};
  const auto f = [](const Point& x) {
    return square(x[0] - 1.3) + 0.5 * square(x[1] - 7) + square(std::log10(x[2] / 300)) + (x[3] == 1 ? 0 : 1);
  };
  EXPECT_LE(median(space, f, 1e-5), 5000U);
}
}  // namespace
}  // namespace culmen
