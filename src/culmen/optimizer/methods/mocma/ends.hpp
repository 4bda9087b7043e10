// Searches for the best of each objective alone.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/parts/inner_jobs.hpp"

namespace culmen::mocma {

/// One optimizer of one objective for each: cmaes, or evolution where that has an obstacle. They find the ends of a
/// front where an objective has several minima, in which members of a front stay.
class Ends {
 public:
  struct Given {
    std::size_t objective;
    EvaluationId id;
    std::vector<double> x;
  };

  Ends(const Space& space, std::uint64_t seed, const Terms& terms);
  /// Of the objective that had the fewest; none: it has to be told more first.
  std::optional<Given> ask();
  /// Without an outcome: it was cancelled.
  void settle(const Given& given, const std::optional<Outcome>& outcome);
  void resize(std::size_t workers);
  /// Of searches without generations; the others' run inside ask().
  InnerJobs& jobs() { return jobs_; }

 private:
  std::vector<std::unique_ptr<Optimizer>> searches_;
  InnerJobs jobs_;
  std::vector<Candidate> one_;
};

}  // namespace culmen::mocma
