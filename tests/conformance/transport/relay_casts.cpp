#include "conformance/transport/relay_casts.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "conformance/transport/mailbox_casts.hpp"
#include "culmen/transport/merged/merged_transport.hpp"
#include "culmen/transport/relay/relay.hpp"
#include "culmen/transport/relay/relay_transport.hpp"
#include "line_in_memory.hpp"

namespace culmen::conformance {
namespace {

constexpr std::size_t fan_out = 2;

/// Of a node without workers.
struct Nobody final : Transport {
  void send(WorkerId, const FrameHead&, BytesView) override {}
  bool receive(Sink&) override { return false; }
  void sleep(double at_most_s) override { std::this_thread::sleep_for(std::chrono::duration<double>(at_most_s)); }
  void wake() noexcept override {}
  void close(double) override {}
};

std::vector<std::size_t> halves_of(std::size_t workers) { return {workers - workers / fan_out, workers / fan_out}; }

/// A relay in a thread with the workers of its node, and the relays behind it.
class Post {
 public:
  /// `levels`: relays between the sender and the farthest worker.
  Post(std::unique_ptr<Line> line, const CastFactory& node, std::size_t workers, std::size_t levels)
      : line_(std::move(line)), workers_(workers), levels_(levels) {
    const auto own = levels == 1 ? workers : (workers + fan_out) / (fan_out + 1);
    if (own > 0) cast_ = node(own);
    Transport& here = own > 0 ? cast_->transport() : nobody_;
    if (levels > 1) reach_behind(node, here, own);
    transport_ = merged_ ? static_cast<Transport*>(&*merged_) : &here;
  }
  void start() {
    for (auto& post : posts_) post->start();
    thread_ = std::thread([this] {
      Relay(*line_, *transport_, workers_, [this] { return behind_ ? behind_->remaining() : 0; },
            {behind_ ? &*behind_ : nullptr, levels_})
          .run();
    });
  }
  void join() {
    thread_.join();
    for (auto& post : posts_) post->join();
  }

 private:
  void reach_behind(const CastFactory& node, Transport& here, std::size_t own) {
    auto ends = LineInMemory::make(fan_out);
    const auto halves = halves_of(workers_ - own);
    for (std::size_t i = 0; i < fan_out; ++i)
      posts_.push_back(std::make_unique<Post>(std::move(ends[i + 1]), node, halves[i], levels_ - 1));
    line_to_those_behind_ = std::move(ends[0]);
    behind_.emplace(*line_to_those_behind_, halves, levels_ - 1);
    merged_.emplace(here, own, *behind_);
  }
  std::unique_ptr<Line> line_, line_to_those_behind_;
  std::size_t workers_, levels_;
  Nobody nobody_;
  std::unique_ptr<Cast> cast_;
  std::vector<std::unique_ptr<Post>> posts_;
  std::optional<RelayTransport> behind_;
  std::optional<MergedTransport> merged_;
  Transport* transport_ = nullptr;
  std::thread thread_;
};

class Relayed final : public Cast {
 public:
  Relayed(const CastFactory& node, bool has_processes, std::size_t workers, std::size_t levels)
      : has_processes_(has_processes),
        ends_(LineInMemory::make(fan_out)),
        transport_(*ends_[0], halves_of(workers), levels) {
    const auto halves = halves_of(workers);
    for (std::size_t i = 0; i < fan_out; ++i)
      posts_.push_back(std::make_unique<Post>(std::move(ends_[i + 1]), node, halves[i], levels));
    for (auto& post : posts_) post->start();
  }
  ~Relayed() override {
    transport_.close(10);
    for (auto& post : posts_) post->join();
  }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return has_processes_; }

 private:
  bool has_processes_;
  std::vector<std::unique_ptr<LineInMemory>> ends_;
  RelayTransport transport_;
  std::vector<std::unique_ptr<Post>> posts_;
};

}  // namespace

CastFactory relayed_threads(std::size_t ring_bytes, std::size_t levels) {
  return [=](std::size_t workers) {
    return std::make_unique<Relayed>(mailbox_threads(ring_bytes), false, workers, levels);
  };
}

CastFactory relayed_processes(std::size_t ring_bytes, std::size_t levels) {
  return [=](std::size_t workers) {
    return std::make_unique<Relayed>(mailbox_processes(ring_bytes), true, workers, levels);
  };
}

}  // namespace culmen::conformance
