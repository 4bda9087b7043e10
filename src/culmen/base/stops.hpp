// The stop signals, where the user's function is called: they do not end the process there, but they end the processes
// that the function starts.
#pragma once
#include <csignal>

namespace culmen {

/// While an object of this class lives, the stop signals do nothing in this process, because only the master acts on
/// them. Programs that it starts and processes that it forks get the default actions, except for signals whose handler
/// the function has set itself. When the last object is destroyed, the former actions return.
class StopSignalsIgnored {
 public:
  StopSignalsIgnored();
  ~StopSignalsIgnored();
  StopSignalsIgnored(const StopSignalsIgnored&) = delete;
  StopSignalsIgnored& operator=(const StopSignalsIgnored&) = delete;
};

/// For a thread that calls the function in a process which handles the stop signals, such as the master. While the
/// object lives, programs that this thread starts and processes that it forks get the default actions, except for
/// signals that this process ignores. The thread may also receive the signals. It must destroy the object itself.
class StopsReachChildren {
 public:
  StopsReachChildren();
  ~StopsReachChildren();
  StopsReachChildren(const StopsReachChildren&) = delete;
  StopsReachChildren& operator=(const StopsReachChildren&) = delete;

 private:
  sigset_t former_mask_;
};

}  // namespace culmen
