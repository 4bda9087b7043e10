// The master's side of workers that come and go over a network.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "culmen/transport/network/address.hpp"
#include "culmen/transport/network/refusals.hpp"
#include "culmen/transport/network/work.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct ListenOptions {
  Address address;
  std::string certificate;  ///< wss: the file with it; see certificate_in(). Empty: a new one, not kept
  std::string token;        ///< a worker must say the same
  Work work;                ///< a worker must say the same
  std::function<std::string()> status = [] { return std::string("{}"); };  ///< ws, wss: see WebPages
  std::size_t io_threads = 1;                                              ///< they read, decode and write
  std::size_t connections = 65536;
  std::size_t handshakes = 1024;  ///< connections that have not said their greeting yet; for more, the oldest ones end
  double handshake_s = 10;
  double silence_s = 50;  ///< not tcp-per-item: a peer that is silent for this time is gone; before, it is asked for a
                          ///< sign of life. Many proxies, such as nginx, end a connection after 60 s of silence
  double stall_s = 30;    ///< a connection ends if a frame has begun and no more of it comes for this time
  std::size_t largest_body = std::size_t{1} << 30;  ///< of a frame of a worker, in bytes
  double return_s = 3;  ///< close() waits for a worker that was just cut off, so that the worker learns of the end
  std::shared_ptr<Refusals> refusals = std::make_shared<Refusals>();  ///< who was not welcome
  double absence_s = 3600;  ///< tcp-per-item: a worker that has no connection for this time is lost
};

inline constexpr char io_thread_name[] = "culmen-io";  ///< of the io_threads, as the system shows it

/// Workers get their numbers 0, 1, … in the order of their welcome. A worker that was lost and comes back gets a new
/// number.
class OpenTransport : public Transport {
 public:
  /// With the port that the system chose.
  virtual const Address& address() const = 0;
  /// Of the certificate; empty without TLS.
  virtual const std::string& fingerprint() const = 0;
  /// The number of workers that are there. Any thread.
  virtual std::size_t connected() const = 0;
  /// Called when there may be something to receive, from any thread, instead of ending a sleep() of this transport.
  virtual void ring(std::function<void()> bell) = 0;
};

/// Listens from now on. Throws InputError if it cannot listen at the address.
std::unique_ptr<OpenTransport> make_open_transport(ListenOptions options);

}  // namespace culmen
