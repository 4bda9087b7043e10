// A transport without workers of its own: the master's candidates are handed out in batches to any taker, and the
// answers are handed back, from any thread.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "culmen/base/alarm.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct HandedFrame {
  WorkerId worker = 0;
  FrameHead head;
  Bytes body;
};

/// Its workers are only numbers: they are all there from the start and never lost.
class HandedTransport final : public Transport {
 public:
  explicit HandedTransport(std::size_t workers) : workers_(workers) {}

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  void wake() noexcept override { alarm_.ring(); }
  bool dismiss() override;
  /// Waits for nobody: unanswered candidates belong to their taker.
  void close(double grace_s) override;

  /// The frames since the last call; sleeps until there is one, close() was called (see closed()), or at_most_s passed.
  std::vector<HandedFrame> take(double at_most_s);
  void answer(HandedFrame frame);
  bool closed() const;

 private:
  const std::size_t workers_;
  mutable std::mutex mutex_;
  std::condition_variable out_changed_;
  std::vector<HandedFrame> out_;
  std::deque<HandedFrame> in_;
  Alarm alarm_;  // of the engine's thread
  bool joined_ = false;
  bool closed_ = false;
};

}  // namespace culmen
