// MPI ranks as workers. Inside the node MPI carries the mailbox's name and, at the end, the result; nothing else.
#pragma once
#include <optional>
#include <string>

#include "culmen/study/config/result.hpp"
#include "culmen/transport/mpi/world.hpp"
#include "culmen/worker/evaluator.hpp"

namespace culmen {

/// The process's MPI, opened at the first call (collective), or nullptr when this process is no rank of a launch.
MpiWorld* shared_world();
/// The MPI of this rank's launch, as in "Open MPI v4.1.4"; empty outside a launch, and where there is no module for it.
/// Does not initialise it.
std::string mpi_library();
/// Collective. Ends MPI. Where a rank hangs in an evaluation it leaves at once with `exit_code` instead, where MPI does
/// not come to an end after 20 s, and the launcher ends the rest.
void finalize_world(int exit_code);
/// In rank 0, before anything that may end in abandon_ranks: the other ranks are waiting, again after a former refusal.
void expect_ranks();
/// In rank 0, when nothing can be run: the other ranks leave with this sentence as their error. Collective with
/// serve_as_rank.
void abandon_ranks(const std::string& message);
/// In every other rank: works for one study of the master and returns its result. Throws TransportError with the
/// master's sentence where it could not start.
StudyResult serve_as_rank(Function function = {});
/// In every other rank: works for all studies and executors of the master, until it dismisses its ranks.
void serve_until_dismissed();
/// In rank 0: the next study is the last one, and its result dismisses the ranks. They then leave MPI while rank 0
/// still prints: where all leave at once, MPICH over TCP (UCX) may wait for ever for one that was quicker.
void dismiss_with_result();
/// In rank 0, where the other ranks serve until then. Collective with serve_until_dismissed, harmless outside a launch.
void dismiss_ranks();
/// The native program's whole life as a rank; returns the exit code.
int rank_main();

}  // namespace culmen
