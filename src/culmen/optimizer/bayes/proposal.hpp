// Where to evaluate next: a model of the points about the best one, and what of a trust region about that promises
// most (TuRBO: Eriksson, Pearce, Gardner, Turner and Poloczek, NeurIPS 2019).
#pragma once
#include <cstdint>

#include "culmen/base/bytes.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/bayes/archive.hpp"
#include "culmen/optimizer/bayes/gaussian_process.hpp"
#include "culmen/space/space.hpp"

namespace culmen::bayes {

/// What a proposal depends on, all of it.
struct Question {
  Space space;
  std::vector<Point> points;  ///< some are ok
  std::size_t best = 0;
  std::vector<Eigen::VectorXd> pending;  ///< being evaluated: taken for what the model expects there
  double side = 0;                       ///< of the trust region, in the unit cube
  Hyperparameters from;
  std::uint64_t seed = 0;
  std::size_t wanted = 1;
};

struct Proposal {
  Hyperparameters hyperparameters;
  std::vector<Eigen::VectorXd> units;  ///< as many as wanted

  Bytes encoded() const;
  static Proposal decoded(const Bytes& bytes);
};

Proposal propose(const Question& question);

/// A unit vector near `centre`: what comes where no model is asked. Discrete parameters step by a cell at least.
Eigen::VectorXd neighbour(const Space& space, const Eigen::VectorXd& centre, double side, Random& random);
/// What is evaluated there, as a unit vector: cells' middles, inactive parameters at rest.
Eigen::VectorXd settled(const Space& space, const Eigen::VectorXd& unit);
std::vector<char> ordered(const Space& space);

}  // namespace culmen::bayes
