// The progress of a running study, for other threads. Reading it can never slow or break the study: the engine stores
// numbers, and rarely a sentence. Any thread may read them.
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

namespace culmen {

enum class Phase : std::uint8_t { starting, replaying, running, stopping, done };
const char* to_string(Phase phase);

/// A snapshot. Every figure is exact, but their times may differ by one turn of the engine.
struct Progress {
  Phase phase = Phase::starting;
  std::uint64_t evaluations = 0;  ///< told, over all starts of the master
  std::uint64_t told_here = 0;    ///< told since this start
  std::uint64_t budget = 0;       ///< 0: none
  double best_value = std::numeric_limits<double>::infinity();
  std::uint32_t busy = 0, workers = 0;
  std::uint64_t failed = 0, retried = 0, lost = 0;
  std::uint64_t oldest = 0;    ///< the evaluation that has run longest
  double oldest_since_s = -1;  ///< seconds of the engine's clock; below 0: none has run for a second
  std::string last_loss;       ///< why the last worker was lost; empty if none was
  std::uint64_t refused = 0;   ///< workers of other machines that were not welcome
  std::string last_refusal;    ///< why the last of them was not
};

/// The engine's thread writes it; any thread reads it.
class ProgressBoard {
 public:
  void write(const Progress& p) {
    phase_ = p.phase;
    evaluations_ = p.evaluations;
    told_here_ = p.told_here;
    budget_ = p.budget;
    best_value_ = p.best_value;
    busy_ = p.busy;
    workers_ = p.workers;
    failed_ = p.failed;
    retried_ = p.retried;
    lost_ = p.lost;
    oldest_ = p.oldest;
    oldest_since_s_ = p.oldest_since_s;
  }
  void say_loss(std::string why) {
    const std::lock_guard lock(mutex_);
    last_loss_ = std::move(why);
  }
  Progress read() const {
    const std::lock_guard lock(mutex_);
    return {phase_,   evaluations_, told_here_, budget_,         best_value_, busy_, workers_, failed_,
            retried_, lost_,        oldest_,    oldest_since_s_, last_loss_,  0,     {}};
  }

 private:
  template <class T>
  struct Figure {
    std::atomic<T> value{};
    void operator=(T v) { value.store(v, std::memory_order_relaxed); }
    operator T() const { return value.load(std::memory_order_relaxed); }
  };
  Figure<Phase> phase_;
  Figure<std::uint64_t> evaluations_, told_here_, budget_;
  Figure<double> best_value_, oldest_since_s_{-1.0};
  Figure<std::uint32_t> busy_, workers_;
  Figure<std::uint64_t> failed_, retried_, lost_, oldest_;
  mutable std::mutex mutex_;
  std::string last_loss_;
};

}  // namespace culmen
