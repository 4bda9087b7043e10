// One run of CMA-ES that learns from results as they arrive.
#pragma once
#include <Eigen/Dense>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/cmaes/asynchronous.hpp"
#include "culmen/optimizer/methods/cmaes/bipop.hpp"
#include "culmen/optimizer/methods/cmaes/lagrangian.hpp"
#include "culmen/optimizer/methods/cmaes/quadratic.hpp"
#include "culmen/optimizer/methods/cmaes/stopping.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::cmaes {

/// The density from which points were drawn, and their average. Near a bound, the average differs from the density's
/// mean.
struct Origin {
  Density density;
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(density.mean.size());
  double count = 0;
};

struct Drawn {
  std::shared_ptr<const Origin> origin;
  Eigen::VectorXd point;
  double log_density;
};

/// Can draw points at any time. Learns from every `population` results, in order of arrival, whatever distributions
/// their points came from.
class ContinuousRun {
 public:
  struct Result {
    Drawn drawn;
    Standing standing;
  };
  /// The figures that a Lagrangian uses.
  struct Measured {
    double value = 0;
    std::vector<double> slacks = {};  ///< of constraints
  };

  /// The space must outlive it. constraints: the number that a Lagrangian uses; 0: there is no Lagrangian.
  ContinuousRun(const Space& space, const AsynchronousSettings& settings, const Run& run, const Eigen::VectorXd& mean,
                std::size_t constraints);
  Drawn draw(Random& random);
  /// Returns true if the run is over.
  bool tell(Result result, Measured measured, Random& random);
  /// Receives the results that the other run got since it last learnt.
  void take_over(const ContinuousRun& other, Random& random);
  /// A fit of its polynomial that is due and takes long. The coefficients follow later; until then the run uses the
  /// previous polynomial.
  std::shared_ptr<const Quadratic::Fit> take_fit();
  void adopt(Eigen::VectorXd coefficients) { model_.adopt(fitting_->frame, std::move(coefficients)); }
  std::size_t population() const { return distribution_.constants().population; }
  std::uint64_t evaluations() const { return evaluations_; }  ///< results that it was told
  bool has_learnt() const { return distribution_.generation() > 0 || evaluations_ > results_.size(); }

 private:
  bool update(Random& random);
  std::vector<std::size_t> ranking();
  std::vector<double> ratios() const;
  Eigen::VectorXd mean_offset(const std::vector<double>& ratios) const;
  Eigen::VectorXd brought_up(const Drawn& drawn, const Eigen::VectorXd& off) const;
  void learn(const std::vector<std::size_t>& ranking);
  double foretold();
  void fit();
  void step_ahead(Random& random);

  const Space& space_;
  const Stale stale_;
  const bool modelled_;
  Distribution distribution_;
  Stopping stopping_;
  Quadratic model_;
  std::shared_ptr<const Quadratic::Fit> due_, fitting_;
  std::optional<Lagrangian> lagrangian_;
  std::shared_ptr<Origin> origin_;  // of the points that are drawn now
  std::vector<Result> results_;     // since it last learnt
  std::vector<Measured> measured_;  // of each result, if there is a Lagrangian
  std::uint64_t evaluations_ = 0, served_ = 0;
};

}  // namespace culmen::cmaes
