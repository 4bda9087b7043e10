// Decides what happens next: a state machine over numbers. No I/O, no clock, no thread, no content of candidates.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/broker/dispatcher.hpp"
#include "culmen/broker/rules.hpp"
#include "culmen/broker/stagnation.hpp"
#include "culmen/broker/window.hpp"
#include "culmen/evaluation/mode.hpp"

namespace culmen {

/// An event.
struct Joined {
  WorkerId worker;
};
struct Leaving {
  WorkerId worker;
};  ///< it takes no more work
struct Lost {
  WorkerId worker;
  bool to_blame = true;  ///< its evaluation may have killed it
};
struct Asked {
  std::uint64_t wanted;
  EvaluationId first;
  std::uint64_t count;
  bool finished;
};  ///< answers Ask; finished: the optimizer ends
struct Arrived {
  WorkerId worker;
  EvaluationId id;
  Attempt attempt;
  bool ok;
  double value;
  double duration_s;            ///< below 0: not known; ignored for prefetching
  std::uint64_t residuals = 0;  ///< number of residuals; 0: a value
  bool wrong_shape = false;     ///< it failed because its outcome lacks a value, or is of another kind
};
struct Offered {};    ///< the source has candidates again, although nothing was told
struct Converged {};  ///< the source ends the study, see Source::converged()
struct Recorded {
  std::uint64_t records;
};  ///< the first `records` Record actions of this broker are durable
struct RecordFailed {};
struct JobGiven {
  JobId job;
};  ///< the optimizer started a job; one at a time
struct JobDone {
  JobId job;
  bool ok;
};
struct StopRequested {
  StopReason reason;
};
struct Tick {};
using Event = std::variant<Joined, Leaving, Lost, Asked, Offered, Converged, Arrived, Recorded, RecordFailed, JobGiven,
                           JobDone, StopRequested, Tick>;

/// The actions, to be executed in this order.
struct Ask {
  std::uint64_t wanted;
};
struct Send {
  WorkerId worker;
  EvaluationId id;
  Attempt attempt;
  std::uint32_t may_hold;  ///< results that the worker may send later: it has candidates beyond two round trips
};
struct Record {
  EvaluationId id;
};  ///< the outcome that arrived
struct Fail {
  EvaluationId id;
  std::uint32_t workers_lost;
  WorkerId worker;
  Attempt attempt;
};  ///< make a crashed outcome for it; its Record follows
struct Drop {
  EvaluationId id;
};  ///< forget the outcome that just arrived: late, repeated, or to be retried
struct Tell {
  EvaluationId id;
};
struct Cancel {
  EvaluationId id;
};
/// Evaluations returned different numbers of residuals. Stop follows.
struct Differ {
  EvaluationId first;
  std::uint64_t residuals_of_first;
  EvaluationId other;
  std::uint64_t residuals_of_other;
};
struct StartJob {
  JobId job;
};
struct Adopt {
  JobId job;
};  ///< give the job's result to the optimizer
struct Resize {
  std::uint64_t workers;
};
struct Stop {
  StopReason reason;
};
using Action = std::variant<Ask, Send, Record, Fail, Drop, Tell, Cancel, Differ, StartJob, Adopt, Resize, Stop>;

struct BrokerOptions {
  StopRules rules;
  FailurePolicy failures;
  bool open_ended = false;  ///< the source may have no candidate now and more later
  Mode mode = Mode::generational;
  /// Candidates wait at each worker while evaluations are shorter than prefetch_below_s, or than ten round trips to
  /// this worker. Usually one waits. In generations, as many wait as take 2 ms or two round trips together, at most 64.
  /// If the worker is still often idle, more wait as long as that helps, at most 0.5 s of work; it then gets more when
  /// half are left. The last candidates of a generation wait here until a worker has none, unless evaluations are
  /// shorter than round trips.
  bool prefetch = true;
  double prefetch_below_s = 0.25;
  std::uint64_t most_waiting = 64;  ///< candidates at a worker that is often idle
  std::uint32_t batch = 1;          ///< largest number of candidates that a worker evaluates together; as many wait
  bool needs_workers = true;        ///< the study stops when the last worker is lost
  std::uint64_t ask_ahead = 65536;  ///< most evaluations that are asked and not told; at least 16 per worker
};

/// Counters for monitors.
struct BrokerCounts {
  std::uint64_t asked = 0, told = 0, failed = 0, retried = 0, lost = 0, dropped = 0;
  std::uint32_t workers = 0, busy = 0;
};

/// Not thread-safe. Amortised O(1) per event.
class Broker {
 public:
  explicit Broker(const BrokerOptions& options);

  /// Before the first event: the content of a former master's journal, in its order.
  void replay_ask(std::uint64_t count);
  void replay_tell(EvaluationId id, bool ok, double value, std::uint64_t residuals = 0);
  void replay_cancel(EvaluationId id);
  /// An outcome that is durable, but was not told. If its number of residuals ended the study, its candidate is
  /// evaluated again.
  void replay_outcome(EvaluationId id, bool ok, double value, std::uint64_t residuals = 0);
  /// The optimizer started a job; replay_adopt(): it was adopted. A job that was not adopted is started again.
  void replay_job(JobId job) { job_ = job; }
  void replay_adopt() { job_.reset(); }
  void replay_converged() { converged_ = true; }
  /// The lowest id that is neither told nor cancelled.
  EvaluationId first_open() const { return evaluations_.first(); }
  /// Starts the clock of wall_time_s and the first actions.
  void start(double now_s, std::vector<Action>& actions);

  /// Appends the actions.
  void on(const Event& event, double now_s, std::vector<Action>& actions);
  /// When a Tick is due; infinity if never.
  double deadline_s() const;
  bool stopped() const { return stopped_ != StopReason::none; }
  const BrokerCounts& counts() const { return counts_; }

 private:
  enum class State : unsigned char { queued, sent, recording, durable, closed };
  struct Evaluation {
    State state = State::queued;
    bool ok = false;
    bool wrong_shape = false;
    std::uint32_t failures = 0, losses = 0;
    Attempt attempt = 0;
    double value = 0;
    std::uint64_t residuals = 0;
  };
  struct Shape {
    EvaluationId of = 0;
    std::uint64_t residuals = 0;  // 0: not known yet
  };

  void on_event(const Joined& e);
  void on_event(const Leaving& e);
  void on_event(const Lost& e);
  void on_event(const Asked& e);
  void on_event(const Offered&) { must_tell_first_ = false; }
  void on_event(const Converged&) { stop(StopReason::converged); }
  void on_event(const Arrived& e);
  void on_event(const Recorded& e);
  void on_event(const RecordFailed&);
  void on_event(const JobGiven& e);
  void on_event(const JobDone& e);
  void on_event(const StopRequested& e);
  void on_event(const Tick&) {}
  void accept(EvaluationId id, bool ok, double value, std::uint64_t residuals);
  void lose(EvaluationId id, WorkerId worker, bool to_blame);
  void requeue(EvaluationId id);
  void tell(EvaluationId id);
  void learn_shape(EvaluationId id, bool ok, std::uint64_t residuals);
  bool differs(bool ok, std::uint64_t residuals) const;
  void tell_in_order();
  void stop_if_at_end();
  void stop(StopReason reason);
  void advance();
  void dispatch();
  void ask_if_needed();
  void give_first(WorkerId worker);
  Supply supply() const;
  std::uint64_t asynchronous_need();

  BrokerOptions options_;
  BrokerCounts counts_;
  std::vector<Action>* actions_ = nullptr;  // of the current call
  double now_s_ = 0;
  double ends_s_ = 0;
  std::uint64_t told_before_ = 0;  // by former masters
  std::uint64_t misshapen_ = 0;    // of those told since then: of a wrong shape
  StopReason stopped_ = StopReason::none;
  std::optional<JobId> job_;  // of the current job
  Window<Evaluation> evaluations_;
  std::deque<EvaluationId> ready_;
  std::deque<EvaluationId> recording_;
  std::uint64_t recorded_ = 0;  // Record actions known to be durable
  Dispatcher dispatcher_;
  bool asking_ = false;           // an Ask awaits its answer
  bool must_tell_first_ = false;  // the last Ask returned fewer than requested
  bool in_short_supply_ = false;  // the same; a tell does not end it
  bool exhausted_ = false;
  Stagnation stagnation_;
  Shape shape_;             // of the first one that was told; all others must have the same
  bool reached_ = false;    // a told value is at or below the target
  bool converged_ = false;  // before this start
};

}  // namespace culmen
