// Where an optimizer's jobs run: beside the engine.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "culmen/evaluation/source.hpp"

namespace culmen {

struct JobResult {
  JobId id = 0;
  Bytes bytes;
  std::string error;  ///< one sentence; empty: it came to its end
};

/// Runs the work here and now; what it throws becomes the error.
JobResult result_of(const Job& job) noexcept;

/// Called by the engine's thread alone. One job at a time.
class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual void start(Job job) = 0;
  /// What came of the job, once; none: it still runs, or there is none.
  virtual std::optional<JobResult> take() = 0;
  /// Until nothing runs any more.
  virtual void wait() = 0;
};

/// A thread for each job: it lives for milliseconds, and is made in some 20 µs.
class JobThread final : public JobRunner {
 public:
  /// `on_done` is called from the thread.
  explicit JobThread(std::function<void()> on_done) : on_done_(std::move(on_done)) {}
  ~JobThread() override { JobThread::wait(); }
  void start(Job job) override;
  std::optional<JobResult> take() override;
  void wait() override;

 private:
  std::function<void()> on_done_;
  std::thread thread_;
  JobResult result_;
  std::atomic<bool> done_{false};
};

}  // namespace culmen
