#include "conformance/transport/relay_casts.hpp"

#include <thread>

#include "conformance/transport/mailbox_casts.hpp"
#include "culmen/transport/relay/relay.hpp"
#include "culmen/transport/relay/relay_transport.hpp"
#include "line_in_memory.hpp"

namespace culmen::conformance {
namespace {

class Relayed final : public Cast {
 public:
  Relayed(const CastFactory& node, std::size_t workers)
      : halves_{workers - workers / 2, workers / 2}, ends_(LineInMemory::make(2)), transport_(*ends_[0], halves_) {
    for (const auto half : halves_) nodes_.push_back(half > 0 ? node(half) : nullptr);
    for (std::size_t r = 0; r < halves_.size(); ++r) relays_.emplace_back([this, r] { relay(r); });
  }
  ~Relayed() override {
    transport_.close(10);
    for (auto& relay : relays_) relay.join();
  }
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return nodes_[0]->has_processes(); }

 private:
  struct Nobody final : Transport {
    void send(WorkerId, const FrameHead&, BytesView) override {}
    bool receive(Sink&) override { return false; }
    void sleep(double at_most_s) override { std::this_thread::sleep_for(std::chrono::duration<double>(at_most_s)); }
    void wake() noexcept override {}
    void close(double) override {}
  };
  void relay(std::size_t r) {
    Nobody nobody;
    auto& node = nodes_[r] ? nodes_[r]->transport() : nobody;
    Relay(*ends_[r + 1], node, halves_[r], [] { return 0; }).run();
  }
  std::vector<std::size_t> halves_;
  std::vector<std::unique_ptr<LineInMemory>> ends_;
  RelayTransport transport_;
  std::vector<std::unique_ptr<Cast>> nodes_;
  std::vector<std::thread> relays_;
};

}  // namespace

CastFactory relayed_threads(std::size_t ring_bytes) {
  return [=](std::size_t workers) { return std::make_unique<Relayed>(mailbox_threads(ring_bytes), workers); };
}

CastFactory relayed_processes(std::size_t ring_bytes) {
  return [=](std::size_t workers) { return std::make_unique<Relayed>(mailbox_processes(ring_bytes), workers); };
}

}  // namespace culmen::conformance
