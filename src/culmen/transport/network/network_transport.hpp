// The master's side of workers that come and go over TCP or WebSocket.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/transport/network/address.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct ListenOptions {
  Address address;
  std::string certificate;  ///< wss: the file with it; see certificate_in(). Empty: a new one, not kept
  std::string token;        ///< a worker must say the same
  std::uint64_t work = 0;   ///< digest of the work; a worker must say the same
  std::function<std::string()> status = [] { return std::string("{}"); };  ///< ws, wss: see WebPages
  std::size_t io_threads = 1;                                              ///< they read, decode and write
  std::size_t connections = 65536;
  std::size_t handshakes = 1024;  ///< connections that have not said their greeting yet
  double handshake_s = 10;
};

inline constexpr char io_thread_name[] = "culmen-io";  ///< of the io_threads, as the system shows it

/// Workers get their numbers 0, 1, … in the order of their welcome. A worker that connects again gets a new number.
class NetworkTransport final : public Transport {
 public:
  /// Listens from now on. Throws InputError if it cannot listen at the address.
  explicit NetworkTransport(ListenOptions options);
  ~NetworkTransport() override;

  /// With the port that the system chose.
  const Address& address() const;
  /// Of the certificate; empty without TLS.
  const std::string& fingerprint() const;
  /// The number of workers that are connected. Any thread.
  std::size_t connected() const;
  /// Called when there may be something to receive, from any thread, instead of ending a sleep() of this transport.
  void ring(std::function<void()> bell);

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
