// The worker's side of a network.
#pragma once
#include <memory>
#include <string>

#include "culmen/transport/network/address.hpp"
#include "culmen/transport/network/work.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

struct JoinOptions {
  Address address;
  std::string fingerprint;  ///< wss: of the master's certificate; empty: an authority must have signed it
  std::string token;
  Work work;               ///< the master must have been started with the same
  double patience_s = 60;  ///< how long it tries to reach the master, at first and after a lost connection
};

class JoinedEndpoint : public Endpoint {
 public:
  /// Returns once the master has welcomed this worker, or after leave(). Called once, before all else. Throws
  /// TransportError if the master is not reached, InputError if it refuses.
  virtual void join() = 0;
  /// Leaves the study: a join() under way and the worker's evaluation are interrupted. Any thread.
  virtual void leave() noexcept = 0;
  /// Results that the system has. Any thread.
  virtual std::uint64_t results() const = 0;
  /// Why it ended without a bye; empty otherwise.
  virtual std::string trouble() const = 0;
};

/// It has not joined yet.
std::unique_ptr<JoinedEndpoint> make_joined_endpoint(JoinOptions options);

/// The same after its join().
std::unique_ptr<JoinedEndpoint> join_master(JoinOptions options);

}  // namespace culmen
