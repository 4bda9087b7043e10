// No orphans: if the master dies, all children and grandchildren of the run are killed within a second.
#pragma once
#include <string>
#include <thread>

#include "culmen/base/process.hpp"

namespace culmen {

/// A value for CULMEN_RUN that names this run of this master; each call returns a new one. Every child of the run has
/// it in its environment. ChildTable::create adds the place of the run's table of children.
std::string make_run_marker();
/// Starts the guard (`culmen __guard`): a small process in its own session, with stdio on /dev/null. It sleeps on the
/// pidfd of `master`. When the master dies, it sends SIGKILL to every process (and its group) whose environment holds
/// CULMEN_RUN=marker, and to the group of every child in the run's table. It repeats this until none is left, and
/// exits. Returns its process id.
pid_t start_guard(const ProcessId& master, const std::string& marker);
/// The guard of this process's run; it ends with it.
class Guard {
 public:
  explicit Guard(const std::string& marker) : pid_(start_guard(this_process(), marker)) {}
  ~Guard() {
    kill_group(pid_);
    reap(pid_);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  pid_t pid_;
};
/// The guard's own work, in the guard process; returns its exit code.
int guard_main(const ProcessId& master, const std::string& marker);
/// While it lives, a thread sleeps on the master's pidfd. When the master dies, it kills everything that this worker
/// started and ends this process. These are processes with the marker whose parent is this process, and the groups of
/// its children in the run's table.
class Lifeline {
 public:
  Lifeline(const ProcessId& master, const std::string& marker);
  ~Lifeline();
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;

 private:
  int let_go_;  // an eventfd
  std::thread thread_;
};

}  // namespace culmen
