#include "conformance/transport/broken_transports.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace culmen::conformance {

namespace {
struct Held {
  WorkerId worker;
  FrameHead head;
  Bytes body;
};

class BrokenTransport final : public Transport, private Transport::Sink {
 public:
  BrokenTransport(Transport& sound, Fault fault) : sound_(sound), fault_(fault) {}
  void send(WorkerId worker, const FrameHead& head, BytesView body) override { sound_.send(worker, head, body); }
  bool receive(Transport::Sink& sink) override {
    sink_ = &sink;
    return sound_.receive(*this);
  }
  void sleep(double at_most_s) override { sound_.sleep(at_most_s); }
  void wake() noexcept override {
    // Forgets all but one in 32, so that the kit's watchdog comes through in the end.
    if (fault_ != Fault::forget_wake || ++wakes_ % 32 == 0) sound_.wake();
  }
  void close(double grace_s) override { sound_.close(grace_s); }

 private:
  void joined(WorkerId worker) override { sink_->joined(worker); }
  void lost(WorkerId worker, const std::string& why) override {
    sink_->lost(worker, why);
    if (fault_ == Fault::lose_twice) sink_->lost(worker, why);
  }
  void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
    if (auto held = std::exchange(held_, {})) {
      sink_->arrived(worker, head, body);
      return sink_->arrived(held->worker, held->head, held->body);
    }
    const bool now = ++count_ % 20 == 0;
    if (!now) return sink_->arrived(worker, head, body);
    auto altered = head;
    switch (fault_) {
      case Fault::drop:
        return;
      case Fault::reorder:
        held_ = Held{worker, head, Bytes(body.begin(), body.end())};
        return;
      case Fault::truncate:
        return sink_->arrived(worker, head, body.first(body.size() / 2));
      case Fault::alter_head:
        altered.attempt ^= 1;
        return sink_->arrived(worker, altered, body);
      case Fault::duplicate:
        sink_->arrived(worker, head, body);
        break;
      default:
        break;
    }
    sink_->arrived(worker, head, body);
  }

  Transport& sound_;
  const Fault fault_;
  Transport::Sink* sink_ = nullptr;
  std::uint64_t count_ = 0;
  std::atomic<std::uint64_t> wakes_ = 0;
  std::optional<Held> held_;
};

class BrokenCast final : public Cast {
 public:
  BrokenCast(std::unique_ptr<Cast> sound, Fault fault)
      : sound_(std::move(sound)), transport_(sound_->transport(), fault) {}
  Transport& transport() override { return transport_; }
  bool has_processes() const override { return sound_->has_processes(); }

 private:
  std::unique_ptr<Cast> sound_;
  BrokenTransport transport_;
};
}  // namespace

CastFactory broken(CastFactory start, Fault fault) {
  return [=](std::size_t workers) { return std::make_unique<BrokenCast>(start(workers), fault); };
}

}  // namespace culmen::conformance
