#include "culmen/study/crew/ranks.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/base/exit_after.hpp"
#include "culmen/study/crew/rank_protocol.hpp"
#include "culmen/transport/mpi/loader.hpp"
#include "culmen/transport/mpi/world.hpp"

namespace culmen {
namespace {
/// MPICH over TCP (UCX) may wait in it for ever if a set-up has failed on a loaded machine.
constexpr std::chrono::seconds patience_with_finalize{60};
constexpr std::chrono::seconds patience_with_exit{5};

/// The launch of this process. A process takes part in one launch only.
struct LaunchedRanks {
  std::unique_ptr<MpiWorld> mpi;
  RanksStates states;
  RankMaster master() { return {*mpi, states}; }
  RankWorker worker() { return {*mpi, states}; }
};

LaunchedRanks& launched_ranks() {
  static LaunchedRanks ranks;
  return ranks;
}

/// Collective at the first call, which opens MPI; nullptr if this process is no rank of a launch, and after MPI's end.
LaunchedRanks* open_ranks() {
  auto& ranks = launched_ranks();
  if (ranks.states.state() != RanksState::closed) return ranks.mpi == nullptr ? nullptr : &ranks;
  const auto launch = detect_launch();
  if (!launch.is_rank()) return nullptr;
  try {
    ranks.mpi = MpiWorld::open(launch);
  } catch (...) {
    ranks.states.on(RanksEvent::end);  // a second try would not be collective
    throw;
  }
  ranks.states.on(RanksEvent::open);
  std::atexit([] { finalize_world(0); });
  return &ranks;
}
}  // namespace

std::string mpi_library() {
  const auto launch = detect_launch();
  if (!launch.is_rank()) return {};
  try {
    return library_name(*load_mpi_module(launch).functions);
  } catch (const TransportError&) {
    return {};
  }
}

void finalize_world(int exit_code) {
  auto& ranks = launched_ranks();
  if (ranks.mpi == nullptr) return;
  if (ranks.states.state() == RanksState::stuck) _exit(exit_code);
  if (!ranks.states.on(RanksEvent::end)) return;
  const ExitAfter deadline(patience_with_finalize, exit_code);
  ranks.mpi->finalize();
  ranks.mpi.reset();
}

void exit_as_rank(int exit_code) {
  if (launched_ranks().states.state() == RanksState::closed || !mpi_library().starts_with("MPICH")) return;
  const ExitAfter deadline(patience_with_exit, exit_code);
  std::exit(exit_code);
}

bool a_rank_hangs() { return launched_ranks().states.state() == RanksState::stuck; }

void expect_ranks() { launched_ranks().states.on(RanksEvent::expect); }

void abandon_ranks(const Refusal& why) {
  if (auto* ranks = open_ranks()) ranks->master().abandon(why);
}

void dismiss_with_result() { launched_ranks().states.expect_the_last(); }

void dismiss_ranks() {
  if (auto* ranks = open_ranks()) ranks->master().dismiss();
}

std::unique_ptr<Crew> make_rank_crew(const CrewRequest& request) {
  auto* ranks = open_ranks();
  if (ranks == nullptr)
    throw InputError("this process is not a rank of an MPI launch; start it with culmen launch, mpiexec or srun");
  return ranks->master().hire(request);
}

StudyResult serve_as_rank(const OwnEvaluators& own) { return open_ranks()->worker().serve(own); }

void serve_until_dismissed(const OwnEvaluators& own) { open_ranks()->worker().serve_until_dismissed(own); }

int rank_main() {
  try {
    serve_until_dismissed();
  } catch (const Error&) {
    // Rank 0 says it, and its exit code is the launch's: launchers mix codes.
  }
  finalize_world(0);
  return 0;
}

}  // namespace culmen
