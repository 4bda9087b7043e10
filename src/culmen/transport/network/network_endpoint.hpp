// The worker's side of a connection over TCP or WebSocket.
#pragma once
#include <memory>
#include <string>

#include "culmen/transport/network/joined_endpoint.hpp"

namespace culmen {

/// Connects again if the connection is lost, and sends its last results again, because they may be lost, too. Frames
/// that had arrived and were not received are dropped, because the master gives them to others.
class NetworkEndpoint final : public JoinedEndpoint {
 public:
  /// Returns once the master has welcomed this worker. Throws TransportError if it is not reached, InputError if it
  /// refuses.
  explicit NetworkEndpoint(JoinOptions options);
  ~NetworkEndpoint() override;
  bool receive(FrameHead& head, Bytes& body) override;
  bool try_receive(FrameHead& head, Bytes& body) override;
  bool send(const FrameHead& head, BytesView body) override;
  void wait_closed() override;
  void release() noexcept override;
  bool closed() const noexcept override;
  void leave() noexcept override;
  std::string trouble() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
