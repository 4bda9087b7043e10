#include "conformance/transport/handed_casts.hpp"

#include <condition_variable>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "culmen/transport/handed/handed.hpp"

namespace culmen::conformance {
namespace {

/// The frames for one worker.
class HandedEndpoint final : public Endpoint {
 public:
  HandedEndpoint(HandedTransport& transport, WorkerId worker) : transport_(transport), worker_(worker) {}
  void put(HandedFrame frame) {
    const std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
    changed_.notify_all();
  }
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  bool receive(FrameHead& head, Bytes& body) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_ || !frames_.empty(); });
    return take(head, body);
  }
  bool try_receive(FrameHead& head, Bytes& body) override {
    const std::lock_guard lock(mutex_);
    return take(head, body);
  }
  bool send(const FrameHead& head, BytesView body) override {
    transport_.answer({worker_, head, Bytes(body.begin(), body.end())});
    return !transport_.closed();
  }
  void wait_closed() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }
  void release() noexcept override { end(); }
  bool closed() const noexcept override { return transport_.closed(); }

 private:
  bool take(FrameHead& head, Bytes& body) {
    if (ended_ || frames_.empty()) return false;
    head = frames_.front().head;
    body = std::move(frames_.front().body);
    frames_.pop_front();
    return true;
  }
  HandedTransport& transport_;
  const WorkerId worker_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HandedFrame> frames_;
  bool ended_ = false;
};

class HandedThreads final : public Cast {
 public:
  explicit HandedThreads(std::size_t workers) : transport_(workers) {
    for (WorkerId worker = 0; worker < workers; ++worker) endpoints_.emplace_back(transport_, worker);
    for (auto& endpoint : endpoints_) threads_.emplace_back([&endpoint] { play_worker(endpoint); });
    taker_ = std::thread([this] {
      while (!transport_.closed())
        for (auto& frame : transport_.take(std::numeric_limits<double>::infinity()))
          endpoints_[frame.worker].put(std::move(frame));
      for (auto& endpoint : endpoints_) endpoint.end();
    });
  }
  ~HandedThreads() override {
    transport_.close(0);
    taker_.join();
    for (auto& thread : threads_) thread.join();
  }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return false; }

 private:
  HandedTransport transport_;
  std::deque<HandedEndpoint> endpoints_;
  std::vector<std::thread> threads_;
  std::thread taker_;
};
}  // namespace

CastFactory handed_threads() {
  return [](std::size_t workers) { return std::make_unique<HandedThreads>(workers); };
}

}  // namespace culmen::conformance
