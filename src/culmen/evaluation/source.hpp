// Where candidates come from: an optimizer, or a program's own queue of work.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/evaluation/mode.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

/// Work of more than a millisecond, such as the fit of a model. It runs in parallel to its source, which may be asked
/// and told in the meantime. `work` is called once, on any thread, and may throw. Its result depends only on the calls
/// that the source had received when it gave out the job.
struct Job {
  JobId id = 0;
  std::function<Bytes()> work;
};

/// Gives candidates to the engine and receives their outcomes. Every candidate ends in exactly one tell() or cancel(),
/// in any order. Only the engine's thread calls it.
class Source {
 public:
  virtual ~Source() = default;

  /// Appends up to n candidates to `out` and returns their number. Ids count from 0 over the source's life. If there
  /// are fewer than n, it must be told more first, or, if it is open-ended, be offered more.
  virtual std::size_t ask(std::size_t n, std::vector<Candidate>& out) = 0;
  /// A source that is not journalled may move from `outcome`.
  virtual void tell(EvaluationId id, Outcome& outcome) = 0;
  /// False if the outcome is only a request; its duration is then ignored. Any thread may call this.
  virtual bool evaluated(const Outcome& /*outcome*/) const { return true; }
  /// The candidate will not be evaluated.
  virtual void cancel(EvaluationId id) = 0;
  /// From now on next_job() gives out jobs. Otherwise each runs inside the next ask(). Called before the first ask().
  virtual void hand_out_jobs() {}
  /// A job that is due. The engine calls this after every other call. There is one job at a time; while it runs, ask()
  /// gives the candidates that do not need its result, possibly none.
  virtual std::optional<Job> next_job() { return {}; }
  /// Receives the result of the job.
  virtual void adopt(JobId /*job*/, const Bytes& /*result*/) {}
  /// The number of evaluations that can run in parallel.
  virtual void resize(std::size_t /*workers*/) {}
  /// True if it will never propose another candidate.
  virtual bool finished() const = 0;
  /// True if the study should end here by a rule of the source's own. This is not the end of the source: if it is
  /// asked, it proposes the candidates that it would propose without the rule.
  virtual bool converged() const { return false; }
  /// True if converged() can become true.
  virtual bool can_converge() const { return false; }
  /// Generational: tells come in the order of candidates. Asynchronous: in the order of arrival.
  virtual Mode mode() const = 0;
  bool generational() const { return mode() == Mode::generational; }
  /// True if its calls and outcomes belong to a study. The journal keeps them, and the engine remembers the best.
  virtual bool journalled() const = 0;
  /// True if candidates may come later. The engine is then notified by Engine::offer().
  virtual bool open_ended() const { return false; }
  virtual std::string name() const = 0;
  /// A clause about the search so far, such as "5 of 7 local searches ended at the best value", or nothing.
  virtual std::string remark() const { return {}; }
  /// The library that proposes and its version, as in "optuna 5.0.0". Empty for culmen's own methods.
  virtual std::string library() const { return {}; }
  /// The best candidate so far, if the source evaluates candidates repeatedly.
  virtual std::optional<Recommendation> recommendation() const { return std::nullopt; }
  /// The number of candidates that ask() has given.
  virtual std::uint64_t asked() const = 0;
};

}  // namespace culmen
