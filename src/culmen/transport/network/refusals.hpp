// Who was not welcome at an OpenTransport, for people who watch the run.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

namespace culmen {

/// Thread-safe.
class Refusals {
 public:
  struct Known {
    std::uint64_t count = 0;
    std::string last;  ///< why the last one was refused. It may contain a text of the stranger
  };

  void note(std::string why) {
    const std::lock_guard lock(mutex_);
    ++known_.count;
    known_.last = std::move(why);
  }
  Known known() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }

 private:
  mutable std::mutex mutex_;
  Known known_;
};

}  // namespace culmen
