// Mailbox workers as threads, and as processes that run this same program.
#pragma once
#include "conformance/transport/transport_conformance.hpp"

namespace culmen::conformance {

CastFactory mailbox_threads(std::size_t ring_bytes);
CastFactory mailbox_processes(std::size_t ring_bytes);

/// In main(): runs the worker and returns its exit code where this process was started as one, else -1.
int maybe_worker(int argc, char** argv);

}  // namespace culmen::conformance
