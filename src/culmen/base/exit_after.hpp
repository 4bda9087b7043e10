// A last call that must not block the end of the process.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace culmen {

/// Unless it is destroyed before, ends the process after `patience` by _exit(exit_code). For a call into a library
/// that may never return, after all other work is done and flushed.
class ExitAfter {
 public:
  ExitAfter(std::chrono::milliseconds patience, int exit_code);

 private:
  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::jthread thread_;  // the first to be destroyed: the thread is stopped and joined
};

}  // namespace culmen
