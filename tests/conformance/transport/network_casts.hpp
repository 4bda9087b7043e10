// TCP and WebSocket, with workers as threads or as processes.
#pragma once
#include <string>

#include "conformance/transport/transport_conformance.hpp"
#include "culmen/transport/network/address.hpp"

namespace culmen::conformance {

CastFactory network_threads(const std::string& scheme);
CastFactory network_processes(const std::string& scheme);

/// For main(): a worker's exit code if this process was started as one by network_processes, otherwise -1.
int maybe_network_worker(int argc, char** argv);

}  // namespace culmen::conformance
