// A queue of events at the workers of a network, for the thread that receives them.
#pragma once
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <variant>

#include "culmen/base/alarm.hpp"
#include "culmen/base/bytes.hpp"
#include "culmen/base/ids.hpp"

namespace culmen {

/// A worker joined (nothing), sent whole frames (a block of them), or is lost (why).
struct Arrival {
  WorkerId worker;
  std::variant<std::monostate, Bytes, std::string> what;
};

/// A queue. Any thread may add; one thread takes and sleeps.
class Arrivals {
 public:
  /// Called instead of ending a sleep() when something is added to the empty queue, by the thread that adds it.
  void ring(std::function<void()> bell);
  void add(Arrival arrival);
  /// The first of them; the others stay, so that one call does not take too long.
  std::deque<Arrival> take();
  /// Sleeps until something is added, wake(), or this time. Returns at once if something waits.
  void sleep(double at_most_s);
  /// Any thread.
  void wake() noexcept { alarm_.ring(); }
  /// Drops what waits and what is added from now on. Any thread.
  void close();

 private:
  Alarm alarm_;
  std::mutex mutex_;  // of the following
  std::function<void()> bell_;
  std::deque<Arrival> waiting_;
  bool closed_ = false;
};

}  // namespace culmen
