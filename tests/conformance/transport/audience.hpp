// The master's side of a check: remembers what happened, and waits for it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

struct Arrival {
  WorkerId worker;
  FrameHead head;
  Bytes body;
};

/// Remembers; the first thing that cannot be is in `wrong`.
class Audience final : public Transport::Sink {
 public:
  explicit Audience(std::size_t workers) : joined_(workers), lost_(workers) {}
  void joined(WorkerId worker) override;
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override;
  void lost(WorkerId worker, const std::string& why) override;

  /// Where set, takes the arrivals instead of `arrivals`.
  std::function<void(WorkerId, const FrameHead&, BytesView)> on_arrival;
  std::vector<Arrival> arrivals;
  std::size_t joined_count = 0, lost_count = 0;
  std::string wrong, why_lost;

 private:
  std::vector<int> joined_, lost_;
};

/// Ends a wait that takes too long, by a wake-up and a flag that makes the check fail. Where even that does not help it
/// ends the program with a message.
class Watchdog {
 public:
  Watchdog(Transport& transport, double deadline_s);
  ~Watchdog();
  bool expired() const { return expired_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::atomic<bool> expired_ = false;
  std::thread thread_;
};

/// Receives, and sleeps without a time-out, until `done`; empty, or why not.
std::string wait_until(Transport& transport, Audience& audience, const Limits& limits,
                       const std::function<bool()>& done);

}  // namespace culmen::conformance
