// A native worker process on the master's machine: `culmen __worker BOX MASTER_PID MASTER_START MARKER`, the mailbox inherited as descriptor 3.
#pragma once
#include <string>

#include "culmen/base/ids.hpp"
#include "culmen/base/process.hpp"

namespace culmen {

SpawnRequest local_worker_request(const std::string& program, int mailbox_fd, WorkerId box, const ProcessId& master, const std::string& marker);
/// In the worker process; `argv` from "__worker" on. Returns its exit code.
int local_worker_main(int argc, char** argv);
/// What every worker process does first: ignores SIGINT and SIGTERM (only the master acts on them) and ends with its master.
void become_worker(const ProcessId& master, const std::string& marker);

}  // namespace culmen
