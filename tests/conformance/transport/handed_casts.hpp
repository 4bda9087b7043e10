// Workers of a taker that hands out what was sent.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

/// They never leave, and nothing limits what they send: both belong to the taker.
CastFactory handed_threads();

}  // namespace culmen::conformance
