// Workers behind two relays, which are threads; the workers are threads or processes with a mailbox. With two levels,
// two further relays are behind each of these: with the master's, seven nodes.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

CastFactory relayed_threads(std::size_t ring_bytes, std::size_t levels = 1);
CastFactory relayed_processes(std::size_t ring_bytes, std::size_t levels = 1);

}  // namespace culmen::conformance
