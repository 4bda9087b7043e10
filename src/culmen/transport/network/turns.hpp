// An event loop without a thread of its own: it runs on the threads that wait for it, one at a time.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>

#include <boost/asio/io_context.hpp>

namespace culmen {

/// The owner's lock guards it. All functions are called under this lock; it is not held while handlers run.
class Turns {
 public:
  using Lock = std::unique_lock<std::mutex>;
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  explicit Turns(boost::asio::io_context& io) : io_(io) {}

  /// Runs the loop until `done()`, or the deadline. `done` may be true at once.
  template <class Done>
  void run_until(Lock& lock, Done done, Deadline deadline = {}) {
    take(lock);
    while (!done() && (!deadline || std::chrono::steady_clock::now() < *deadline)) run_one(lock, deadline);
    give_back();
  }

  /// Runs what is due, and waits for nothing.
  void poll(Lock& lock);

  /// Returns once `ended()`. Runs the loop if nobody has run it for `absence`, until another thread wants to. For one
  /// thread.
  template <class Ended>
  void stand_in(Lock& lock, std::chrono::nanoseconds absence, Ended ended) {
    while (!ended()) {
      const auto seen = taken_;
      changed_.wait_for(lock, absence, ended);
      if (ended() || seen != taken_) continue;
      if (!running_) run_beside(lock, ended);
      else rest(lock, ended);
    }
  }

  /// Look at the ends again. Any thread, also without the lock.
  void wake();

 private:
  void take(Lock& lock);
  void run_one(Lock& lock, Deadline deadline);
  void give_back();

  template <class Ended>
  void run_beside(Lock& lock, Ended ended) {
    running_ = true;
    while (!ended() && wanted_ == 0) run_one(lock, {});
    running_ = false;
    changed_.notify_all();
  }

  /// While another thread is in run_until(), it notices everything itself.
  template <class Ended>
  void rest(Lock& lock, Ended ended) {
    resting_ = true;
    changed_.wait(lock, [&] { return ended() || !running_; });
    resting_ = false;
  }

  boost::asio::io_context& io_;
  std::condition_variable changed_;
  bool running_ = false;  // a thread runs the loop
  int wanted_ = 0;        // threads that wait for their turn
  bool resting_ = false;  // the thread in stand_in() waits for the end of a turn
  std::uint64_t taken_ = 0;
};

}  // namespace culmen
