// Ask/tell. An optimizer does no I/O, reads no clock, owns no thread and never blocks; all its randomness comes from
// the seed.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "culmen/evaluation/source.hpp"
#include "culmen/optimizer/core/options.hpp"
#include "culmen/optimizer/core/terms.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Proposes candidates. Every candidate ends in exactly one tell() or cancel(), in any order. The same seed and the
/// same calls give the same candidates. Not thread-safe.
class Optimizer : public Source {
 public:
  /// Appends up to n candidates to `out` and returns their number. Ids count from 0 over the optimizer's life. If there
  /// are fewer than n, it must be told more first: call again after the next tell or cancel. If there is none although
  /// nothing is open, it has finished (see finished()).
  std::size_t ask(std::size_t n, std::vector<Candidate>& out) final;
  /// Throws InputError if the id was never asked for, or was told or cancelled before.
  void tell(EvaluationId id, const Outcome& outcome);
  void tell(EvaluationId id, Outcome& outcome) final { tell(id, std::as_const(outcome)); }
  /// The candidate will not be evaluated. Throws like tell().
  void cancel(EvaluationId id) final;
  /// This does not change the candidates of a generational optimizer.
  void hand_out_jobs() final { hands_out_jobs_ = true; }
  std::optional<Job> next_job() final;
  /// Throws InputError if this is not the job that next_job() gave out.
  void adopt(JobId job, const Bytes& result) final;
  /// Tells the outcome of a vector that the optimizer did not propose, such as a user's start. Deterministic if this
  /// comes before the tells of the first generation.
  virtual void hear(const std::vector<double>& /*x*/, const Outcome& /*outcome*/) {}
  /// True if it finishes after a number of candidates that it chooses itself.
  virtual bool ends_by_itself() const { return false; }
  /// True if its first candidate is Space::start(), with inactive parameters at their resting values.
  virtual bool begins_at_start() const { return false; }
  /// True if it should hear of all starts before its first ask().
  virtual bool waits_for_starts() const { return false; }
  /// A generational optimizer ignores it.
  void resize(std::size_t /*workers*/) override {}
  bool finished() const override { return false; }
  /// True if a candidate depends only on earlier generations, which are told in the order of candidates. The sequence
  /// then depends neither on timing nor on the number of workers.
  Mode mode() const override = 0;
  bool journalled() const final { return true; }

  std::uint64_t asked() const final { return next_; }
  std::size_t open() const { return open_.size(); }

 protected:
  /// Appends at most n vectors (space order, own units) to `out`; the ids are set by ask().
  virtual void do_ask(std::size_t n, std::vector<Candidate>& out) = 0;
  virtual void do_tell(EvaluationId id, const Outcome& outcome) = 0;
  virtual void do_cancel(EvaluationId id) = 0;
  /// The next job, if one is due. Called after every other call, but not while a job runs.
  virtual std::function<Bytes()> do_job() { return {}; }
  virtual void do_adopt(const Bytes& /*result*/) {}

 private:
  void close(EvaluationId id, const char* what);
  bool did_job();
  EvaluationId next_ = 0;
  bool hands_out_jobs_ = false, job_is_out_ = false;
  JobId jobs_ = 0;
  std::unordered_set<EvaluationId> open_;
};

/// Throws InputError for an unknown name or option (and names the known ones), for a value that is not allowed, for an
/// obstacle(), and if the terms are asynchronous but the optimizer is not. Defined in catalogue/registry.cpp, which
/// knows all optimizers.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                          const OptimizerOptions& options = {}, const Terms& terms = {});

}  // namespace culmen
