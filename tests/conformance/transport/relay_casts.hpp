// Workers behind two relays, which are threads; the workers are threads or processes with a mailbox.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

CastFactory relayed_threads(std::size_t ring_bytes);
CastFactory relayed_processes(std::size_t ring_bytes);

}  // namespace culmen::conformance
