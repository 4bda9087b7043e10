// Notices the death of worker processes: one thread sleeps in epoll over their pidfds.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "culmen/base/ids.hpp"
#include "culmen/base/process.hpp"

namespace culmen {

class ProcessWatcher {
 public:
  /// Called once per process, from the watcher's thread (from watch() if it is dead already). wait_status: as of
  /// waitpid, -1 if the process is not ours.
  using Report = std::function<void(WorkerId worker, int wait_status)>;
  /// Throws TransportError if the system has no more descriptors.
  explicit ProcessWatcher(Report report);
  /// Stops watching; it reports nothing afterwards.
  ~ProcessWatcher();
  /// Any thread. `ours`: a child of this process, which is reaped when it dies.
  void watch(WorkerId worker, const ProcessId& process, bool ours);

 private:
  struct Watched {
    pid_t pid;
    int pidfd;
    bool ours;
  };
  void loop();
  void died(WorkerId worker);
  void forget_all() noexcept;

  Report report_;
  std::mutex mutex_;
  std::map<WorkerId, Watched> watched_;
  int epoll_ = -1;
  int stop_ = -1;  // an eventfd
  std::thread thread_;
};

}  // namespace culmen
