// Where an optimizer's jobs run: in parallel to the engine.
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
  std::string error;  ///< one sentence; empty: it succeeded
};

/// Runs the work in this call; an exception becomes the error.
JobResult result_of(const Job& job) noexcept;

/// Only the engine's thread calls it. One job at a time.
class JobRunner {
 public:
  virtual ~JobRunner() = default;
  virtual void start(Job job) = 0;
  /// Returns the result of the job once. Empty if the job still runs, or if there is no job.
  virtual std::optional<JobResult> take() = 0;
  /// Waits until no job runs.
  virtual void wait() = 0;
};

/// One thread for each job: it lives for milliseconds, and takes about 20 µs to make.
class JobThread final : public JobRunner {
 public:
  /// The thread calls `on_done`.
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
