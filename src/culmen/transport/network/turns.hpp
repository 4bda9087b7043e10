// Two threads that use the same thing: mostly one, and another one while the first is away.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "culmen/base/alarm.hpp"

namespace culmen {

/// The owner's lock guards it. All functions but wake() are called under this lock.
class Turns {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Moment = std::chrono::steady_clock::time_point;

  /// Waits for the turn, and has it while this object lives. The lock may be released in between.
  class Turn {
   public:
    Turn(Turns& turns, Lock& lock) : turns_(turns) { turns_.take(lock); }
    ~Turn() { turns_.give_back(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Turns& turns_;
  };

  /// Another thread waits for its turn.
  bool is_wanted() const { return wanted_ > 0; }

  /// Returns once `ended()`. If nobody has had a turn for `absence`, calls `work(lock)` again and again, until another
  /// thread wants a turn. For one thread.
  template <class Ended, class Work>
  void stand_in(Lock& lock, std::chrono::nanoseconds absence, Ended ended, Work work) {
    while (!ended()) {
      const auto seen = turns_;
      changed_.wait_for(lock, absence, ended);
      if (ended() || seen != turns_) continue;
      if (taken_) {  // the other thread waits for something, and notices everything itself
        resting_ = true;
        changed_.wait(lock, [&] { return ended() || !taken_; });
        resting_ = false;
        continue;
      }
      const Turn turn(*this, lock);
      while (!ended() && !is_wanted()) work(lock);
    }
  }

  /// Sleeps until then, `done()`, or wake().
  template <class Done>
  void sleep_until(Lock& lock, Moment until, Done done) {
    changed_.wait_until(lock, until, done);
  }
  /// Ends the sleeps, so that their ends are looked at again. Any thread, also without the lock.
  void wake() noexcept;
  /// wake() rings it. For the thread in work().
  Alarm& alarm() { return alarm_; }

 private:
  void take(Lock& lock);
  void give_back();

  Alarm alarm_;
  std::condition_variable changed_;
  bool taken_ = false;
  bool resting_ = false;     // the thread in stand_in() waits for the end of a turn
  int wanted_ = 0;           // threads that wait for their turn
  std::uint64_t turns_ = 0;  // that began or ended
};

}  // namespace culmen
