// Child processes, and noticing the death of any process, without signals of our own and without plain fork().
#pragma once
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "culmen/base/executable.hpp"

namespace culmen {

/// Signals that stop a study cleanly. Only a master acts on them, though they may reach every process of a job.
inline constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP};

/// A process with its start time, so that a reused id is not mistaken for it.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
  bool operator==(const ProcessId&) const = default;
};

/// This process.
ProcessId this_process();
/// Reads /proc; start_ticks is 0 when there is no such process.
ProcessId identify(pid_t pid);
/// 0 when there is no such process.
pid_t parent_of(pid_t pid);
/// True when that very process is alive (a zombie counts as dead).
bool alive(const ProcessId& process);
/// A descriptor that becomes readable when that very process dies; -1 when it is dead already. Works for processes that
/// are not our children. The caller closes it.
int open_pidfd(const ProcessId& process);

/// The same for a child of ours that has not been reaped, whose id therefore cannot be reused: one system call.
int open_child_pidfd(pid_t child) noexcept;

/// Variables to set by name; nullopt: the variable is removed.
using EnvironmentChanges = std::map<std::string, std::optional<std::string>>;

/// Whether mpiexec, srun or `culmen launch` set this variable, for example to tell a process its place in the launch. A
/// child process that inherited it could not use MPI: it would claim its parent's rank. Variables that users set, such
/// as OMPI_MCA_btl, are not among them.
bool is_of_launch(std::string_view variable);

/// The arguments of posix_spawn. The child leads its own process group, has default signal handlers and an empty
/// signal mask, and the soft limit of open files that this process had before DescriptorRoom raised it.
struct SpawnRequest {
  std::vector<std::string> command;              ///< [0] is looked up in PATH when it has no slash
  std::string called;                            ///< the program's name as it sees it (argv[0]); empty: command[0]
  EnvironmentChanges environment;                ///< to this process's own without what is_of_launch
  std::string working_folder;                    ///< empty: this process's own
  std::vector<std::pair<int, int>> descriptors;  ///< (ours, the child's): dup2'ed; 0, 1 and 2 stay unless named,
                                                 ///< everything above the highest is closed
  bool new_session = false;                      ///< setsid instead of setpgid
};

/// Starts a child. Throws Error with the system's reason, naming the program. Thread-safe. The caller waits for the
/// child (reap).
pid_t spawn(const SpawnRequest& request);
/// SIGKILL to the whole process group led by `pid`; no error when it is gone.
void kill_group(pid_t pid) noexcept;
/// waitpid for a child of ours; returns the raw wait status. Blocks.
int reap(pid_t pid) noexcept;

}  // namespace culmen
