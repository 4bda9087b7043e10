// Bytes that a rank gives to others directly. In a collective call, MPI passes them from rank to rank, so that a dead
// rank keeps them from others.
#pragma once
#include <vector>

#include "culmen/base/bytes.hpp"
#include "culmen/transport/mpi/module.h"

namespace culmen {

/// Each of these ranks calls take_gift(), and gets no other gift meanwhile. Returns once MPI has the bytes, or if
/// nobody takes anything for 10 s. The module's open_line() was called in every rank. Throws TransportError.
void give(const culmen_mpi_module& mpi, BytesView bytes, const std::vector<int>& ranks);
/// Waits for it. Throws TransportError.
Bytes take_gift(const culmen_mpi_module& mpi);

}  // namespace culmen
