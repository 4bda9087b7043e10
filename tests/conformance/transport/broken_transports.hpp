// Transports that are wrong in one way each; the kit must notice every one of them.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

enum class Fault { none, drop, duplicate, reorder, truncate, alter_head, lose_twice, forget_wake };

/// The workers of `start` behind a transport with that fault.
CastFactory broken(CastFactory start, Fault fault);

}  // namespace culmen::conformance
