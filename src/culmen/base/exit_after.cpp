#include "culmen/base/exit_after.hpp"

#include <unistd.h>

namespace culmen {

ExitAfter::ExitAfter(std::chrono::milliseconds patience, int exit_code)
    : thread_([this, patience, exit_code](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        stopped_.wait_for(lock, stop, patience, [] { return false; });
        if (!stop.stop_requested()) _exit(exit_code);
      }) {}

}  // namespace culmen
