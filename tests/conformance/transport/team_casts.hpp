// Workers in teams.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

/// Each worker is a team of two workers of `start`.
CastFactory in_teams(CastFactory start);

}  // namespace culmen::conformance
