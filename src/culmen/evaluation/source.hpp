// Where candidates come from: an optimizer, or a program's own queue of work.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

/// Work of over a millisecond, such as the fit of a model, that runs beside its source, which may be asked and told
/// meanwhile. `work` is called once, on any thread; what it returns depends on nothing but the calls that the source
/// got before it gave the job out. It may throw.
struct Job {
  JobId id = 0;
  std::function<Bytes()> work;
};

/// What the engine asks and tells. Every candidate that ask() gave ends in exactly one tell() or cancel(), in any
/// order. Called by the engine's thread alone.
class Source {
 public:
  virtual ~Source() = default;

  /// Appends up to n candidates to `out`, with ids that follow each other from 0 on over the source's life, and returns
  /// how many. Fewer than n: it has to be told more first, or, where it is open-ended, offered more.
  virtual std::size_t ask(std::size_t n, std::vector<Candidate>& out) = 0;
  /// `outcome` may be moved from where the source is not journalled.
  virtual void tell(EvaluationId id, Outcome& outcome) = 0;
  /// False where it only asks for something, and its duration says nothing. Any thread.
  virtual bool evaluated(const Outcome& /*outcome*/) const { return true; }
  /// The candidate will not be evaluated.
  virtual void cancel(EvaluationId id) = 0;
  /// From now on jobs are given out by next_job(); else each runs inside the next ask(). Called before the first ask().
  virtual void hand_out_jobs() {}
  /// A job that is to run now; looked for after every other call. None is given while one is out. Meanwhile ask() gives
  /// what it can without it, which may be nothing.
  virtual std::optional<Job> next_job() { return {}; }
  /// What came of the job that is out.
  virtual void adopt(JobId /*job*/, const Bytes& /*result*/) {}
  /// How many evaluations can run at once.
  virtual void resize(std::size_t /*workers*/) {}
  /// True when it has nothing more to propose, ever.
  virtual bool finished() const = 0;
  /// Tells come in candidate order; else in order of arrival.
  virtual bool generational() const = 0;
  /// Its calls and outcomes are a study's: kept in a journal, where there is one, and the best is remembered.
  virtual bool journalled() const = 0;
  /// It may have nothing now and more later, of which the engine hears by Engine::offer().
  virtual bool open_ended() const { return false; }
  virtual std::string name() const = 0;
  /// What it can say about its search so far, a clause such as "5 of 7 descents ended at the best value"; or nothing.
  virtual std::string remark() const { return {}; }
  /// The library that proposes and its version, as in "optuna 5.0.0"; empty: culmen's own.
  virtual std::string library() const { return {}; }
  /// The candidate it would take, where it measures repeatedly, so far.
  virtual std::optional<Recommendation> recommendation() const { return std::nullopt; }
  /// How many candidates ask() has given.
  virtual std::uint64_t asked() const = 0;
};

}  // namespace culmen
