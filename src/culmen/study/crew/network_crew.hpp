// Workers that join over a network while the study runs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "culmen/study/crew/crew.hpp"
#include "culmen/transport/network/address.hpp"

namespace culmen {

/// Where a run waits for workers of other machines.
struct Listening {
  std::string address;      ///< as parse_address() takes it; empty: nowhere
  std::string certificate;  ///< wss: the file with it, which is made if it is missing
  std::string token;        ///< what a worker must know
  std::string content;      ///< part of the digest of the work: what the evaluator's files contain
  std::size_t io_threads = 1;
  explicit operator bool() const { return !address.empty(); }
};

/// A crew that others may join. Workers of `own`, if there are any, work from the start.
class NetworkCrew : public Crew {
 public:
  /// With the port that the system chose.
  virtual const Address& address() const = 0;
  /// Of the certificate; empty without TLS.
  virtual const std::string& fingerprint() const = 0;
};

/// Throws InputError if it cannot listen. `own` may be null.
std::unique_ptr<NetworkCrew> make_network_crew(const Listening& listening, const CrewRequest& request,
                                               std::unique_ptr<Crew> own);

}  // namespace culmen
