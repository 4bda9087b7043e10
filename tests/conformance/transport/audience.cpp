#include "conformance/transport/audience.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <utility>

namespace culmen::conformance {

void Audience::joined(WorkerId worker) {
  ++joined_count;
  if (joined_.at(worker)++ != 0) wrong = fmt::format("worker {} joined twice", worker);
}

void Audience::arrived(WorkerId worker, const FrameHead& head, BytesView body) {
  if (joined_.at(worker) == 0) wrong = fmt::format("a frame of worker {} arrived before it joined", worker);
  if (lost_.at(worker) != 0) wrong = fmt::format("a frame of worker {} arrived after it was lost", worker);
  if (on_arrival) return on_arrival(worker, head, body);
  arrivals.push_back({worker, head, Bytes(body.begin(), body.end())});
}

void Audience::lost(WorkerId worker, const std::string& why) {
  ++lost_count;
  why_lost = why;
  if (lost_.at(worker)++ != 0) wrong = fmt::format("worker {} was lost twice", worker);
}

Watchdog::Watchdog(Transport& transport, double deadline_s)
    : thread_([this, &transport, deadline_s] {
        std::unique_lock lock(mutex_);
        const auto over = [this] { return over_; };
        if (changed_.wait_for(lock, std::chrono::duration<double>(deadline_s), over)) return;
        expired_ = true;
        for (int i = 0; i < 2000; ++i) {
          transport.wake();
          if (changed_.wait_for(lock, std::chrono::milliseconds(10), over)) return;
        }
        std::fprintf(stderr, "the transport does not come back, not even after wake()\n");
        std::abort();
      }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::string wait_until(Transport& transport, Audience& audience, const Limits& limits,
                       const std::function<bool()>& done) {
  Watchdog watchdog(transport, limits.deadline_s);
  while (!done() && audience.wrong.empty()) {
    if (watchdog.expired())
      return fmt::format("nothing more happened for {} s: {} joined, {} arrivals kept, {} lost", limits.deadline_s,
                         audience.joined_count, audience.arrivals.size(), audience.lost_count);
    if (!transport.receive(audience)) transport.sleep(std::numeric_limits<double>::infinity());
  }
  return audience.wrong;
}

}  // namespace culmen::conformance
