// The program that the Python tests in this folder run under mpiexec. It opens the world, exercises it and prints the
// results of rank 0. `world_program loaded LIBRARY` first loads an MPI as mpi4py would; `world_program wait` sleeps
// until a signal comes.
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <numeric>
#include <string_view>

#include "culmen/base/error.hpp"
#include "culmen/transport/mpi/world.hpp"

namespace {

using culmen::Bytes;
using culmen::MpiWorld;

Bytes pattern(std::size_t n) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>(i * 7 + n);
  return bytes;
}

/// Every rank's own number of faults in what was broadcast.
int broadcast_faults(MpiWorld& world) {
  int faults = 0;
  for (const std::size_t n : {0, 1, 4096, 3'000'001}) {
    faults += world.broadcast(world.rank() == 0 ? pattern(n) : Bytes{}) != pattern(n);
  }
  return faults;
}

void exercise(MpiWorld& world) {
  const auto mine = fmt::format("{} {}", world.rank(), broadcast_faults(world));
  const auto all = world.gather(mine);
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (all[r] != fmt::format("{} 0", r)) throw culmen::Error("rank and faults: " + all[r]);
  }
  const auto cut = world.gather(std::string(300, 'x'));
  if (!cut.empty() && cut.back() != std::string(255, 'x')) throw culmen::Error("a long text was not cut at 255 bytes");
  world.barrier();
  if (world.rank() == 0) fmt::print("{} | {} ranks\n", world.library(), world.size());
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&set, s);
  return set;
}

/// Before MPI makes threads: rank 0 is going to wait for these signals, the others ignore them, as culmen's master and
/// workers do.
void prepare_signals(int rank) {
  const auto set = stop_signals();
  if (rank == 0) sigprocmask(SIG_BLOCK, &set, nullptr);
  for (const int s : {SIGINT, SIGTERM, SIGUSR1}) signal(s, rank == 0 ? SIG_DFL : SIG_IGN);
}

/// The other ranks are in a broadcast, as if at work, until rank 0 was asked to end.
int wait_for_signal(MpiWorld& world) {
  const auto set = stop_signals();
  int caught = 0;
  world.barrier();
  if (world.rank() == 0) {
    fmt::print("waiting\n");
    fflush(stdout);
    sigwait(&set, &caught);
    fmt::print("caught {}\n", strsignal(caught));
    fflush(stdout);
  }
  world.broadcast({});
  world.finalize();
  return world.rank() == 0 ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const auto launch = culmen::detect_launch();
  if (mode == "wait") prepare_signals(launch.rank);
  if (mode == "loaded" && dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    fmt::print(stderr, "{}\n", dlerror());
    return 4;
  }
  try {
    const auto world = MpiWorld::open(launch);
    if (mode == "wait") return wait_for_signal(*world);
    exercise(*world);
    world->finalize();
    return 0;
  } catch (const culmen::Error& error) {
    if (launch.rank != 0) return 0;
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
