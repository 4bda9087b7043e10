// No orphans: when the master dies, whatever children and grandchildren the run has started are killed within a second.
#pragma once
#include <string>
#include <thread>

#include "culmen/base/process.hpp"

namespace culmen {

/// A value for CULMEN_RUN that names this run of this master; fresh at each call. Every child of the run has it in its
/// environment; ChildTable::create adds where the run's table of children is.
std::string make_run_marker();
/// Starts the guard (`culmen __guard`): a small process in a session of its own, stdio on /dev/null, asleep on the
/// pidfd of `master`; when that fires it SIGKILLs every process (and its group) whose environment holds
/// CULMEN_RUN=marker and the group of every child in the run's table, several rounds until none is left, and exits.
/// Returns its process id.
pid_t start_guard(const ProcessId& master, const std::string& marker);
/// The guard's own work, in the guard process; returns its exit code.
int guard_main(const ProcessId& master, const std::string& marker);
/// While it lives, a thread sleeps on the master's pidfd; when that fires it kills what this worker started (processes
/// with the marker whose parent is this process, and the groups of its children in the run's table) and ends this
/// process.
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
