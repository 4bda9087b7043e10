// A native worker process on the master's machine: `culmen __worker BOX MASTER_PID MASTER_START MARKER`, the mailbox
// inherited as descriptor 3.
#pragma once
#include <string>

#include "culmen/base/ids.hpp"
#include "culmen/base/process.hpp"
#include "culmen/base/stops.hpp"
#include "culmen/worker/process/guard.hpp"

namespace culmen {

SpawnRequest local_worker_request(const std::string& program, int mailbox_fd, WorkerId box, const ProcessId& master,
                                  const std::string& marker);
/// In the worker process; `argv` from "__worker" on. Returns its exit code.
int local_worker_main(int argc, char** argv);
/// While it lives, this process works for a master, ignores these signals, and ends with its master.
class WorkerRole {
 public:
  WorkerRole(const ProcessId& master, const std::string& marker) : lifeline_(master, marker) {}

 private:
  Lifeline lifeline_;
  StopSignalsIgnored signals_;
};

}  // namespace culmen
