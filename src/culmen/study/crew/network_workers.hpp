// The workers of this process for a master elsewhere: `culmen worker`.
#pragma once
#include <memory>
#include <string>

#include "culmen/study/config/study_config.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

struct Joining {
  std::string address;      ///< of the master, as parse_address() takes it
  std::string fingerprint;  ///< wss: of the master's certificate; empty: an authority must have signed it
  std::string token;
  std::string content;     ///< as Listening::content
  std::size_t slots = 1;   ///< evaluations at a time
  double patience_s = 60;  ///< how long a worker tries to reach the master, at first and after a lost connection
};

/// They evaluate only their own study: they ignore the set-up that the master sends.
class NetworkWorkers {
 public:
  /// `function` for EvaluatorKind::function.
  NetworkWorkers(StudyConfig config, Joining joining, Function function = {});
  ~NetworkWorkers();
  /// Joins, and returns when all have left. Use it instead of start(). Throws as wait_joined() does, and TransportError
  /// with trouble() if an error ended them.
  void run();
  /// Begins to join. Call it only once.
  void start();
  /// Waits at most `timeout_s` until all have joined, and returns whether they have; then they evaluate. Also true
  /// after stop(). Throws InputError if the master refuses a worker, TransportError if it is not reached.
  bool wait_joined(double timeout_s);
  /// Waits at most `timeout_s` until all have left, and returns whether they have.
  bool wait(double timeout_s);
  /// Ends them, also while they join; their evaluations are ended, too. Any thread.
  void stop() noexcept;
  /// After the end: one sentence about what ended them; empty if the study has ended, or stop() was called.
  std::string trouble() const;
  /// Evaluations that were finished here.
  std::uint64_t evaluations() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
