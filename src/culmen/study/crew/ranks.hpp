// The MPI ranks of this process's launch as workers; see rank_protocol.hpp and, for their states, ranks_states.hpp.
#pragma once
#include <memory>
#include <string>

#include "culmen/study/config/result.hpp"
#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/rank_protocol.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// The MPI of this rank's launch, for example "Open MPI v4.1.4". Empty outside a launch, and if there is no module for
/// it. Does not initialise MPI.
std::string mpi_library();
/// Collective. Ends MPI. If a rank hangs in an evaluation, or if MPI does not end within 60 s, this rank leaves with
/// `exit_code`, and the launcher ends the rest.
void finalize_world(int exit_code);
/// After finalize_world(): ends this process with C's exit(), if it was a rank under MPICH; otherwise returns. MPICH 5
/// tells its launcher in an exit handler that this rank has left MPI. If a rank leaves with _exit(), the launcher ends
/// the others. Does not wait longer than 5 s for exit handlers.
void exit_as_rank(int exit_code);
/// In rank 0: whether a rank did not leave its evaluation.
bool a_rank_hangs();

/// In rank 0, before anything that may end in abandon_ranks(): notes that the other ranks wait, also after a refusal.
void expect_ranks();
/// In rank 0, if nothing can run: the other ranks get this error. Collective with serve_as_rank.
void abandon_ranks(const Refusal& why);
/// In rank 0: the next study is the last one, and its result dismisses the ranks. They then leave MPI while rank 0
/// still prints. If all ranks left at once, MPICH over TCP (UCX) might wait for ever for a rank that was quicker.
void dismiss_with_result();
/// In rank 0, if the other ranks serve until then. Collective with serve_until_dismissed, harmless outside a launch.
void dismiss_ranks();
/// In rank 0. Collective with serve_as_rank of all other ranks. Throws InputError outside a launch, and TransportError
/// in all ranks if one of them cannot work.
std::unique_ptr<Crew> make_rank_crew(const CrewRequest& request);

/// In every other rank: works for one study of the master and returns its result. If it cannot start, throws the
/// master's error.
StudyResult serve_as_rank(const OwnEvaluators& own = {});
/// In every other rank: works for all studies and executors of the master, until it dismisses its ranks.
void serve_until_dismissed(const OwnEvaluators& own = {});
/// The native program's whole life as a rank; returns the exit code.
int rank_main();

}  // namespace culmen
