#include "culmen/base/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {
struct Stat {
  char state = 0;
  pid_t parent = 0;
  std::uint64_t start_ticks = 0;
};

/// Fields 3, 4 and 22 of /proc/PID/stat; zeros when there is no such process. The name (field 2) may hold anything, so
/// counting starts after its last bracket.
Stat read_stat(pid_t pid) {
  const int fd = open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char buffer[1024];
  const auto n = read(fd, buffer, sizeof buffer);
  close(fd);
  std::string_view text(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
  const auto bracket = text.rfind(')');
  if (bracket == text.npos || bracket + 2 >= text.size()) return {};
  text.remove_prefix(bracket + 2);
  Stat stat{text[0], 0, 0};
  for (int field = 3; field < 22; ++field) {
    if (field == 4) std::from_chars(text.data(), text.data() + text.size(), stat.parent);
    const auto space = text.find(' ');
    if (space == text.npos) return {};
    text.remove_prefix(space + 1);
  }
  std::from_chars(text.data(), text.data() + text.size(), stat.start_ticks);
  return stat;
}

class Attributes {
 public:
  explicit Attributes(bool new_session) {
    posix_spawnattr_init(&value_);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&value_, &all);
    posix_spawnattr_setsigmask(&value_, &none);
    posix_spawnattr_setpgroup(&value_, 0);
    const int group = new_session ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&value_, static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group));
  }
  ~Attributes() { posix_spawnattr_destroy(&value_); }
  Attributes(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_;
};

class FileActions {
 public:
  explicit FileActions(const SpawnRequest& request) {
    posix_spawn_file_actions_init(&value_);
    if (!request.working_folder.empty()) posix_spawn_file_actions_addchdir_np(&value_, request.working_folder.c_str());
    add(request.descriptors);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&value_); }
  FileActions(const FileActions&) = delete;
  const posix_spawn_file_actions_t* get() const { return &value_; }

 private:
  /// A descriptor whose number another one will take is first moved above all numbers in use.
  void add(const std::vector<std::pair<int, int>>& descriptors) {
    int last = STDERR_FILENO, spare = last;
    for (const auto& [ours, theirs] : descriptors) {
      last = std::max(last, theirs);
      spare = std::max({spare, ours, theirs});
    }
    auto moved = descriptors;
    for (auto& [ours, theirs] : moved) {
      const bool taken =
          std::any_of(descriptors.begin(), descriptors.end(), [&](const auto& other) { return other.second == ours; });
      if (!taken || ours == theirs) continue;
      posix_spawn_file_actions_adddup2(&value_, ours, ++spare);
      ours = spare;
    }
    for (const auto& [ours, theirs] : moved) posix_spawn_file_actions_adddup2(&value_, ours, theirs);
    posix_spawn_file_actions_addclosefrom_np(&value_, last + 1);
  }
  posix_spawn_file_actions_t value_;
};

/// "NAME=value" of this process, except names in the request or of a launch, then the request's own.
class Environment {
 public:
  explicit Environment(const EnvironmentChanges& changes) {
    own_.reserve(changes.size());
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      const std::string name(*entry, std::strcspn(*entry, "="));
      if (!changes.contains(name) && !is_of_launch(name)) pointers_.push_back(*entry);
    }
    for (const auto& [name, value] : changes)
      if (value) pointers_.push_back(own_.emplace_back(name + '=' + *value).data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const { return pointers_.data(); }

 private:
  std::vector<std::string> own_;
  std::vector<char*> pointers_;
};

struct Start {
  std::string program;
  std::vector<std::string> words;  // argv
};

/// posix_spawn cannot set limits, and after it the child runs already: if our limit was raised, the program `culmen`
/// sets the child's limit and becomes the requested program.
Start start_of(const SpawnRequest& request) {
  auto words = request.command;
  const auto& called = request.called.empty() ? request.command[0] : request.called;
  if (const auto soft = childs_descriptor_limit(); soft != 0) {
    words.insert(words.begin(), {find_executable(), "__exec", std::to_string(soft), called});
    return {words[0], words};
  }
  return {std::exchange(words[0], called), words};
}

/// `culmen launch` names the variables that it sets, because some of them choose the MPI of its ranks.
bool is_set_by_culmen(std::string_view variable) {
  if (variable == "CULMEN_LAUNCH_SETS") return true;
  const char* const names = std::getenv("CULMEN_LAUNCH_SETS");
  for (std::string_view rest = names != nullptr ? names : ""; !rest.empty();) {
    const auto end = std::min(rest.find(','), rest.size());
    if (rest.substr(0, end) == variable) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}
}  // namespace

bool is_of_launch(std::string_view variable) {
  // Open MPI 4 and 5 (mpiexec), PMIx (also srun), Hydra (MPICH, Intel MPI), PMI (also srun), steps of srun.
  constexpr std::string_view prefixes[] = {
      "OMPI_COMM_WORLD_",
      "OMPI_MCA_ess",
      "OMPI_MCA_orte_",
      "OMPI_MCA_pmix",
      "PMIX_",
      "PMI_",
      "HYDI_",
      "HYDRA_",
      "MPI_LOCAL",
      "SLURM_STEP",
      "SLURM_PMI",
      "SLURM_SRUN_COMM",
      "SLURM_CPU_BIND",
  };
  constexpr std::string_view names[] = {
      "OMPI_APP_CTX_NUM_PROCS",
      "OMPI_ARGV",
      "OMPI_COMMAND",
      "OMPI_FILE_LOCATION",
      "OMPI_FIRST_RANKS",
      "OMPI_NUM_APP_CTX",
      "OMPI_UNIVERSE_SIZE",
      "OMPI_MCA_initial_wdir",
      "SLURM_PROCID",
      "SLURM_LOCALID",
      "SLURM_GTIDS",
      "SLURM_TASK_PID",
      "OMPI_MCA_mpi_oversubscribe",
      "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
  };
  if (variable.starts_with("PMIX_MCA_")) return false;
  return is_set_by_culmen(variable) ||
         std::ranges::any_of(prefixes, [&](auto prefix) { return variable.starts_with(prefix); }) ||
         std::ranges::find(names, variable) != std::end(names);
}

ProcessId this_process() { return identify(getpid()); }

ProcessId identify(pid_t pid) { return {pid, read_stat(pid).start_ticks}; }

pid_t parent_of(pid_t pid) { return read_stat(pid).parent; }

bool alive(const ProcessId& process) {
  const auto stat = read_stat(process.pid);
  return stat.start_ticks != 0 && stat.start_ticks == process.start_ticks && stat.state != 'Z' && stat.state != 'X';
}

int open_pidfd(const ProcessId& process) {
  if (process.pid <= 0) return -1;
  const int fd = open_child_pidfd(process.pid);
  // Only now is the id pinned: a look before opening could have seen the process and opened its successor.
  if (fd >= 0 && alive(process)) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

int open_child_pidfd(pid_t child) noexcept { return static_cast<int>(syscall(SYS_pidfd_open, child, 0)); }

pid_t spawn(const SpawnRequest& request) {
  if (request.command.empty()) throw Error("a program to start has no name; give at least one word");
  const auto [program, words] = start_of(request);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const Attributes attributes(request.new_session);
  const FileActions actions(request);
  const Environment environment(request.environment);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, program.c_str(), actions.get(), attributes.get(), arguments.data(), environment.get());
  if (error == 0) return pid;
  const auto& folder = request.working_folder;
  const bool folder_is_why = !folder.empty() && access(folder.c_str(), X_OK) != 0;
  if (error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE)
    throw ResourceError(fmt::format("cannot start '{}': {}", request.command[0], std::strerror(error)));
  throw Error(
      folder_is_why
          ? fmt::format("cannot start '{}' in folder '{}': {}", request.command[0], folder, std::strerror(errno))
          : fmt::format("cannot start '{}': {}{}", request.command[0], std::strerror(error),
                        error == ENOEXEC ? " (the first line of a script must be #!/bin/sh or the like)" : ""));
}

void kill_group(pid_t pid) noexcept {
  if (pid > 1) kill(-pid, SIGKILL);
}

int reap(pid_t pid) noexcept {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace culmen
