// The master's side of workers that come and go over TCP or WebSocket.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/transport/network/open_transport.hpp"

namespace culmen {

/// A worker that connects again gets a new number.
class NetworkTransport final : public OpenTransport {
 public:
  /// Listens from now on. Throws InputError if it cannot listen at the address.
  explicit NetworkTransport(ListenOptions options);
  ~NetworkTransport() override;

  const Address& address() const override;
  const std::string& fingerprint() const override;
  std::size_t connected() const override;
  void ring(std::function<void()> bell) override;

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  void wake() noexcept override;
  bool dismiss() override;
  /// At most 10 s.
  void close(double grace_s) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
