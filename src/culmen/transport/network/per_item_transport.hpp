// The master's side of TCP with a connection for each item. It is the baseline of benchmarks, and slow: a worker
// connects, hands in its result, waits for its next item, and the connection ends.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/transport/network/open_transport.hpp"

namespace culmen {

/// No frame is lost with a connection: both sides repeat what the other one has not confirmed. A worker without a
/// connection may be evaluating, or dead: it is lost after ListenOptions::absence_s.
class PerItemTransport final : public OpenTransport {
 public:
  /// See make_open_transport().
  explicit PerItemTransport(ListenOptions options);
  ~PerItemTransport() override;

  const Address& address() const override;
  const std::string& fingerprint() const override;
  std::size_t connected() const override;
  void ring(std::function<void()> bell) override;
  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  void wake() noexcept override;
  bool dismiss() override;
  /// At most 10 s: a worker hears of it on its next visit.
  void close(double grace_s) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
