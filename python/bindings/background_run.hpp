// A Run whose engine works on a thread of its own, so that Python's main thread stays free for progress and signals.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/study/run/run.hpp"

namespace culmen::bindings {

/// stop(), offer() and progress(): any thread. wait(): any thread, once it was started. The rest: one thread at a time.
class BackgroundRun {
 public:
  BackgroundRun(StudyConfig config, RunOptions options);
  /// `ended` is called on the engine's thread when the engine has ended.
  BackgroundRun(StudyConfig config, RunOptions options, std::shared_ptr<Source> source, std::function<void()> ended);
  ~BackgroundRun();
  /// No thread that is made here takes a signal: they are left to Python's main thread.
  void start();
  /// True when done; false after timeout_s, or as soon as a signal came, whose handler can then run.
  bool wait(double timeout_s);
  void stop() noexcept { run_.stop(); }
  void offer() noexcept { run_.offer(); }
  /// Once the engine has ended.
  std::string message() const { return run_.message(); }
  Progress progress() const { return run_.progress(); }
  double elapsed_s() const;
  /// After wait() said true. The first call lets the workers go; see Run::conclude.
  const StudyResult& result(const std::string& note = {});

 private:
  Run run_;
  SteadyClock clock_;
  double started_s_ = 0;
  int done_;  // an eventfd: unlike a condition, waiting for it ends with a signal
  std::function<void()> ended_;
  std::thread thread_;
  std::unique_ptr<StudyResult> result_;
};

}  // namespace culmen::bindings
