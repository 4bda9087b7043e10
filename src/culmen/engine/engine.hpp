// The only executor of the broker's actions. Production and simulation run this engine with different parts.
#pragma once
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/broker/broker.hpp"
#include "culmen/engine/jobs.hpp"
#include "culmen/engine/saved_outcomes.hpp"
#include "culmen/engine/table.hpp"
#include "culmen/engine/underway.hpp"
#include "culmen/evaluation/front.hpp"
#include "culmen/evaluation/source.hpp"
#include "culmen/monitor/history.hpp"
#include "culmen/monitor/progress.hpp"
#include "culmen/store/writer.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct EngineOptions {
  BrokerOptions broker;
  Bytes set_up;             ///< sent to every worker that joins; opaque here
  std::uint64_t study = 0;  ///< in every frame's head
  Epoch epoch = 1;
  std::string build;                       ///< of this culmen, for messages
  std::optional<std::size_t> values = {};  ///< number of values of an outcome (see Outcome); none: not checked
  std::shared_ptr<JobRunner> jobs = {};    ///< runs the jobs; null: each runs on a thread that the engine makes
  bool visitors_are_to_blame = true;       ///< if a visitor is lost, its evaluation may be the reason
  double close_grace_s = 0.1;  ///< time for workers to leave a study that did not reach its end; otherwise workers may
                               ///< finish their current evaluation
  std::shared_ptr<History> history = {};  ///< gets every evaluation that is told; may be null
};

/// The result of a run.
struct EngineResult {
  StopReason reason = StopReason::none;
  std::string message;  ///< one sentence, for failure and error
  BrokerCounts counts;
  bool store_failed = false;  ///< the reason is error, because the store could not be written or read
  double evaluated_s = 0;     ///< sum of the durations of this start's evaluations, also of those that did not end
  double served_s = 0;        ///< seconds from the first ready worker to the end
  double present_s = 0;       ///< sum of the times in which workers were ready
  bool has_best = false;
  Candidate best;
  Outcome best_outcome;
  Front front;         ///< of several objectives
  std::string remark;  ///< the optimizer's remark on its search; may be empty
  std::optional<Recommendation> recommended;
  std::string first_failure;  ///< one sentence on the first told evaluation that failed; empty if none failed
};

class Engine final : private Transport::Sink {
 public:
  /// Both outlive the engine.
  Engine(Source& source, const Clock& clock, EngineOptions options);
  ~Engine() override;

  /// Before start(): workers from this number on come and go. An error at one of them ends its own work, not the study.
  void expect_visitors(WorkerId first) { first_visitor_ = first; }
  /// Before start(): replays a former master's journal with the source. Throws StoreError if the optimizer now
  /// proposes other candidates than then. Returns early after request_stop(); start() then stops at once.
  void replay(const Journal& journal);
  /// Starts the broker. Both parts outlive finish(); without a recorder nothing is journalled.
  void start(Transport& transport, Recorder* recorder);
  /// Executes all actions that are possible now; false if there were none. Not after stopped().
  bool turn();
  bool stopped() const { return broker_.stopped(); }
  /// Seconds until turn() must be called even if nothing arrives; infinity if never.
  double patience_s() const;
  /// start(), then turn() and sleep until stopped, then finish(). Production code calls this.
  EngineResult run(Transport& transport, Recorder* recorder);
  /// After stopped(): waits for the current job, records the end, closes the recorder, releases the workers.
  EngineResult finish();

  /// Ends the run as soon as the engine wakes. Any thread, and a signal handler.
  void request_stop(StopReason why = StopReason::interrupted) noexcept;
  /// An open-ended source has candidates again: it is asked as soon as the engine wakes. Any thread.
  void offer() noexcept;
  /// Any thread.
  Progress progress() const { return board_.read(); }

 private:
  void joined(WorkerId worker) override;
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override;
  void leaving(WorkerId worker) override;
  void lost(WorkerId worker, const std::string& why) override;

  void feed(const Event& event);
  void execute();
  void execute(const Ask& a);
  void execute(const Send& a);
  void execute(const Record& a);
  void execute(const Fail& a);
  void execute(const Drop&) {}
  void execute(const Tell& a);
  void execute(const Cancel& a);
  void execute(const Differ& a);
  void execute(const StartJob& a);
  void execute(const Adopt& a);
  void execute(const Resize& a);
  void execute(const Stop& a);
  void ready(WorkerId worker);
  void count_presence();
  bool was_ready(WorkerId worker) const;
  void stray(WorkerId worker);
  void turn_away(WorkerId worker, const std::string& why);
  void end_with(WorkerId worker, StopReason reason, BytesView sentence);
  void arrived_result(WorkerId worker, const FrameHead& head, BytesView body);
  bool look_at_records();
  void look_at_workers();
  bool look_for_job();
  void announce_job();
  void close(EvaluationId id);
  bool look_at_job();
  void push(CallRecord call);
  void flush_tells();
  void replay_call(const Journal& journal, const CallRecord& call);
  void replay_ask(const Journal& journal, const CallRecord& call);
  bool look_at_saved();
  void replay_job();
  void replay_adopt(const Journal& journal, const CallRecord& call);
  void replay_told(const Journal& journal, EvaluationId id);
  void stopped_in_replay(const Journal& journal);
  void note(EvaluationId id, const Outcome& outcome);
  void remember(EvaluationEntry& entry);
  std::string why(StopReason reason) const;
  void show(Phase phase);

  Source& source_;
  const Clock& clock_;
  Transport* transport_ = nullptr;          // the engine's thread
  std::atomic<Transport*> awake_{nullptr};  // the same, for request_stop
  Recorder* recorder_ = nullptr;
  EngineOptions options_;
  WorkerId first_visitor_ = std::numeric_limits<WorkerId>::max();
  Broker broker_;
  EvaluationTable table_;
  ProgressBoard board_;
  SavedOutcomes saved_;
  Underway underway_;
  std::vector<bool> were_ready_;  // by worker
  std::uint32_t present_ = 0;     // workers, since:
  double present_since_s_ = 0, first_ready_s_ = -1;
  std::vector<Action> actions_;
  std::size_t next_action_ = 0;
  std::vector<Candidate> asked_;
  std::vector<EvaluationId> tells_;            // executed, not yet in the journal
  std::vector<std::uint64_t> record_tickets_;  // of Record actions that may not be durable yet
  std::uint64_t recorded_ = 0;
  /// The answer that the broker decides about.
  struct Answer {
    Outcome outcome;
    EvaluationId id = 0;
    WorkerId worker = 0;
    Attempt attempt = 0;
  } incoming_;
  Bytes scratch_;
  std::optional<Job> job_;  // of the current job
  JobResult job_result_;
  bool any_job_ = false;
  EngineResult result_;
  std::uint64_t told_before_ = 0;
  std::atomic<StopReason> stop_requested_{StopReason::none};
  std::atomic<bool> offered_{false};
};

}  // namespace culmen
