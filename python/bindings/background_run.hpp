// A Run whose engine works on a thread of its own, so that Python's main thread stays free for progress and signals.
#pragma once
#include <functional>
#include <memory>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/study/run/run.hpp"

namespace culmen::bindings {

/// Any thread may call stop(), offer() and progress(), and, once the run was started, wait(). The others: one thread at
/// a time.
class BackgroundRun {
 public:
  BackgroundRun(StudyConfig config, RunOptions options);
  /// `ended` is called on the engine's thread when the engine has ended.
  BackgroundRun(StudyConfig config, RunOptions options, std::shared_ptr<Source> source, std::function<void()> ended);
  ~BackgroundRun();
  /// The threads that this makes take no signals; Python's main thread gets them. Only threads that call a function of
  /// a library themselves may receive signals, because programs that the function starts inherit what is blocked.
  void start();
  /// True if it has ended. False after timeout_s, or as soon as a signal came, so that its handler can run.
  bool wait(double timeout_s);
  void stop(StopReason why = StopReason::interrupted) noexcept { run_.stop(why); }
  void offer() noexcept { run_.offer(); }
  /// Only after start().
  const Run::Door& door() const { return run_.door(); }
  std::uint32_t workers() const { return run_.workers(); }
  std::uint32_t nodes() const { return run_.nodes(); }
  /// Only after the engine has ended.
  std::string message() const { return run_.message(); }
  Progress progress() const { return run_.progress(); }
  std::shared_ptr<const History> history() const { return run_.history(); }
  double elapsed_s() const;
  /// Only after wait() returned true. The first call releases the workers; see Run::conclude.
  const StudyResult& result(const std::string& note = {});

 private:
  Run run_;
  SteadyClock clock_;
  double started_s_ = 0;
  int done_;  // an eventfd: unlike a condition variable, a signal ends waiting for it
  std::function<void()> ended_;
  std::thread thread_;
  std::unique_ptr<StudyResult> result_;
};

}  // namespace culmen::bindings
