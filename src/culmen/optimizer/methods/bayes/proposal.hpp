// Where to evaluate next: a model of the points about the best one, and what of a trust region about that promises
// most (TuRBO: Eriksson, Pearce, Gardner, Turner and Poloczek, NeurIPS 2019).
#pragma once
#include <cstdint>
#include <optional>

#include "culmen/base/bytes.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/bayes/archive.hpp"
#include "culmen/optimizer/methods/bayes/gaussian_process.hpp"
#include "culmen/space/space.hpp"

namespace culmen::bayes {

inline constexpr std::size_t rivals = compressions.size() + 1;

/// What a proposal depends on, all of it.
struct Question {
  Space space;
  std::vector<Point> points;  ///< some are ok
  std::size_t best = 0;
  std::vector<Eigen::VectorXd> pending;  ///< being evaluated: taken for what the model expects there
  double side = 0;                       ///< of the trust region, in the unit cube
  Hyperparameters from;                  ///< lengths of the unit cube; none: the standard
  std::size_t compression = 0;           ///< of values: that of the model before
  std::size_t rival = 0;  ///< below `rivals`: which compression is tried against it; the last: the same with much noise
  std::uint64_t seed = 0;
  std::size_t wanted = 1;
  bool noisy = false;  ///< values of one point differ: what counts is what the model makes of them
};

/// The point of the least posterior mean.
struct Favourite {
  Eigen::VectorXd unit;
  double value = 0, error = 0;  ///< of the objective: mean and deviation
  std::uint64_t points = 0;     ///< of the model
};

struct Proposal {
  Hyperparameters hyperparameters;  ///< lengths of the unit cube
  std::size_t compression = 0;
  std::vector<Eigen::VectorXd> units;  ///< as many as wanted
  std::optional<Favourite> favourite;  ///< of a process that takes a part of the values' differences for noise

  Bytes encoded() const;
  static Proposal decoded(const Bytes& bytes);
};

Proposal propose(const Question& question);
/// The same by a forest over the whole space: side, from, compression and rival do not count.
Proposal propose_by_forest(const Question& question);

/// A unit vector near `centre`: what comes where no model is asked. Discrete parameters step by a cell at least.
Eigen::VectorXd neighbour(const Space& space, const Eigen::VectorXd& centre, double side, Random& random);
/// What is evaluated there, as a unit vector: cells' middles, inactive parameters at rest.
Eigen::VectorXd settled(const Space& space, const Eigen::VectorXd& unit);
std::vector<char> ordered(const Space& space);

}  // namespace culmen::bayes
