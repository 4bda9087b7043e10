// Two transports as one.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

/// The first half of the workers in mailboxes, the others over TCP.
CastFactory merged_threads(std::size_t ring_bytes);
CastFactory merged_processes(std::size_t ring_bytes);

}  // namespace culmen::conformance
