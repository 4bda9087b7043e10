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

/// Decides what to try next. Every candidate that ask() gave ends in exactly one tell() or cancel(), in any order.
/// Same seed and same calls give the same candidates. Not thread-safe.
class Optimizer : public Source {
 public:
  /// Appends up to n candidates to `out`, with ids that follow each other from 0 on over the optimizer's life, and
  /// returns how many. Fewer than n: it has to be told more first; call again after the next tell or cancel. None
  /// although nothing is open: it has finished (see finished()).
  std::size_t ask(std::size_t n, std::vector<Candidate>& out) final;
  /// Throws InputError when the id was never asked, or is closed already (told or cancelled).
  void tell(EvaluationId id, const Outcome& outcome);
  void tell(EvaluationId id, Outcome& outcome) final { tell(id, std::as_const(outcome)); }
  /// The candidate will not be evaluated. Throws like tell().
  void cancel(EvaluationId id) final;
  /// The candidates of a generational optimizer are the same whether its jobs are handed out or not.
  void hand_out_jobs() final { hands_out_jobs_ = true; }
  std::optional<Job> next_job() final;
  /// Throws InputError for a job that is not out.
  void adopt(JobId job, const Bytes& result) final;
  /// What came of a vector that it did not ask for, such as a user's start. Deterministic where it comes before the
  /// tells of the first generation.
  virtual void hear(const std::vector<double>& /*x*/, const Outcome& /*outcome*/) {}
  /// True when it has a number of candidates of its own and then finishes.
  virtual bool ends_by_itself() const { return false; }
  /// True: its first candidate is the space's start, at rest where inactive; nobody has to give that before.
  virtual bool begins_at_start() const { return false; }
  /// A generational optimizer ignores it.
  void resize(std::size_t /*workers*/) override {}
  bool finished() const override { return false; }
  /// True: a candidate depends only on candidates of earlier generations, whose tells come in candidate order; so the
  /// sequence does not depend on timing or on the number of workers.
  bool generational() const override = 0;
  bool journalled() const final { return true; }

  std::uint64_t asked() const final { return next_; }
  std::size_t open() const { return open_.size(); }

 protected:
  /// Appends at most n vectors (space order, own units) to `out`; the ids are set by ask().
  virtual void do_ask(std::size_t n, std::vector<Candidate>& out) = 0;
  virtual void do_tell(EvaluationId id, const Outcome& outcome) = 0;
  virtual void do_cancel(EvaluationId id) = 0;
  /// Work that is due and was not given yet; not called while such is out. Called after every other call.
  virtual std::function<Bytes()> do_job() { return {}; }
  virtual void do_adopt(const Bytes& /*result*/) {}

 private:
  void close(EvaluationId id, const char* what);
  bool did_job();
  EvaluationId next_ = 0;
  bool hands_out_jobs_ = false, job_is_out_ = false;
  JobId jobs_ = 0;
  std::unordered_set<EvaluationId> open_;  // so memory follows what is open, however long one evaluation takes
};

/// Throws InputError for an unknown name or option, naming the known ones, for a value that is not allowed, where there
/// is an obstacle(), and for terms that are not generational where it is not asynchronous. The rooms above know all
/// optimizers: catalogue/registry.cpp defines it.
std::unique_ptr<Optimizer> make_optimizer(const std::string& name, const Space& space, std::uint64_t seed,
                                          const OptimizerOptions& options = {}, const Terms& terms = {});

}  // namespace culmen
