// A Run whose engine works on a thread of its own, so that Python's main thread stays free for progress and signals.
#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/study/run.hpp"

namespace culmen::bindings {

/// Everything but stop() and progress() from one thread.
class BackgroundRun {
 public:
  BackgroundRun(StudyConfig config, RunOptions options) : run_(std::move(config), std::move(options)) {}
  ~BackgroundRun();
  void start();
  /// True when done.
  bool wait(double timeout_s);
  void stop() noexcept { run_.stop(); }
  Progress progress() const { return run_.progress(); }
  double elapsed_s() const;
  /// After wait() said true. The first call lets the workers go.
  const StudyResult& result();

 private:
  Run run_;
  SteadyClock clock_;
  double started_s_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
  std::unique_ptr<StudyResult> result_;
};

}  // namespace culmen::bindings
