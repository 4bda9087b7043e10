// Searches for the best value of each single objective.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen::mocma {

/// One optimizer for each objective: cmaes, or evolution if cmaes cannot work on the space. They find the ends of a
/// front if an objective has several minima in which members of a front get stuck.
class Ends {
 public:
  struct Given {
    std::size_t objective;
    EvaluationId id;
    std::vector<double> x;
  };

  Ends(const Space& space, std::uint64_t seed, const Terms& terms);
  /// A candidate for the objective that has had the fewest. None: it must be told more first.
  std::optional<Given> ask();
  /// No outcome: the candidate was cancelled.
  void settle(const Given& given, const std::optional<Outcome>& outcome);
  void resize(std::size_t workers);
  /// Jobs of asynchronous searches; those of the others run inside ask().
  InnerJobs& jobs() { return jobs_; }

 private:
  std::vector<std::unique_ptr<Optimizer>> searches_;
  InnerJobs jobs_;
  std::vector<Candidate> one_;
};

}  // namespace culmen::mocma
