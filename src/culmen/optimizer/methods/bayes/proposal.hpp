// Where to evaluate next: a model of the points around the best one, and the most promising places of a trust region
// (TuRBO: Eriksson, Pearce, Gardner, Turner and Poloczek, NeurIPS 2019).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>

#include "culmen/base/bytes.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/bayes/archive.hpp"
#include "culmen/optimizer/methods/bayes/gaussian_process.hpp"
#include "culmen/space/space.hpp"

namespace culmen::bayes {

inline constexpr std::size_t rivals = compressions.size() + 1;

/// Everything that a proposal depends on.
struct Question {
  Space space;
  std::vector<Point> points;  ///< at least one is ok
  std::size_t best = 0;
  std::vector<Eigen::VectorXd> pending;  ///< being evaluated: the model's expectation stands for their values
  double side = 0;                       ///< of the trust region, in the unit cube
  Hyperparameters from;                  ///< lengths of the unit cube; none: the defaults
  std::size_t compression = 0;           ///< of values: the compression of the previous model
  std::size_t rival = 0;  ///< < `rivals`: the compression that is compared with it; the last one: the same compression
                          ///< with strong noise
  std::uint64_t seed = 0;
  std::size_t wanted = 1;
  bool noisy = false;  ///< values of one point differ: the model's estimates count instead
};

/// The point of the least posterior mean.
struct Favourite {
  Eigen::VectorXd unit;
  double value = 0, error = 0;  ///< of the objective: mean and deviation
  std::uint64_t points = 0;     ///< number of the model's points
};

struct Proposal {
  Hyperparameters hyperparameters;  ///< lengths of the unit cube
  std::size_t compression = 0;
  std::vector<Eigen::VectorXd> units;  ///< as many as the question asks for
  std::optional<Favourite> favourite;  ///< only of a process that explains a part of the differences by noise

  Bytes encoded() const;
  static Proposal decoded(const Bytes& bytes);
};

Proposal propose(const Question& question);
/// The same by a forest over the whole space; it ignores side, from, compression and rival.
Proposal propose_by_forest(const Question& question);
/// The same by a Gaussian process whose covariance is a sum over the parameters; it ignores side, from, compression,
/// rival and pending: points drawn at random differ anyway.
Proposal propose_by_sum(const Question& question);

/// The feasible point of the least mean (one for each point); none if all failed or violate constraints. `expected`:
/// mean and variance of the model at a point.
std::optional<Favourite> favourite_of(const std::vector<Point>& points, const Eigen::VectorXd& means,
                                      const ModelValues& values,
                                      const std::function<Posterior(Eigen::Index)>& expected);
/// Whether one of the points (rows) is nearer than this in each parameter.
bool contains(const Eigen::MatrixXd& points, const Eigen::VectorXd& unit, double near);
/// The indices of the values, the least value first.
std::vector<Eigen::Index> ascending(const Eigen::VectorXd& values);
/// A point anywhere in the space.
Eigen::VectorXd anywhere(const Space& space, Random& random);
/// A unit vector near `centre`, used when no model is asked. Discrete parameters move by at least one cell.
Eigen::VectorXd neighbour(const Space& space, const Eigen::VectorXd& centre, double side, Random& random);
/// The unit vector that is actually evaluated: middles of cells, inactive parameters at rest.
Eigen::VectorXd settled(const Space& space, const Eigen::VectorXd& unit);
std::vector<char> ordered(const Space& space);

}  // namespace culmen::bayes
