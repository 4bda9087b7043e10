// The worker's side of a connection over TCP or WebSocket.
#pragma once
#include <memory>
#include <string>

#include "culmen/transport/network/address.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct JoinOptions {
  Address address;
  std::string fingerprint;  ///< wss: of the master's certificate; empty: an authority must have signed it
  std::string token;
  std::uint64_t work = 0;  ///< digest of the work
  double patience_s = 60;  ///< how long it tries to reach the master, at first and after a lost connection
};

/// Connects again if the connection is lost, and sends its last results again, because they may be lost, too. Frames
/// that had arrived and were not received are dropped, because the master gives them to others.
class NetworkEndpoint final : public Endpoint {
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
  /// Leaves the study: the worker's evaluation is interrupted. Any thread.
  void leave() noexcept;
  /// Why the connection ended without a bye; empty otherwise.
  std::string trouble() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
