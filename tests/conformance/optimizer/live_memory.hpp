// How much memory this program holds.
#pragma once
#include <cstddef>
#include <string>

#include "culmen/optimizer/optimizer.hpp"

namespace culmen::conformance {

/// Bytes that were allocated on the heap and not yet freed, in all threads; also under a sanitizer.
std::size_t live_bytes();

/// Looks for a leak while an optimizer is told results.
///
/// What an optimizer holds may rise and fall: CMA-ES, for example, restarts with a larger population, and frees it when
/// that run ends. When this happens depends on the trajectory, so no moment has a fixed bound. But memory that falls
/// comes back to what it was, and a leak never does. So from `tells` on the watch waits for one moment with little more
/// memory than after the warm-up; it gives up after `patience` times as many tells.
class MemoryWatch {
 public:
  static constexpr std::size_t tells = 100000, warm_up = tells / 10, patience = 10;

  explicit MemoryWatch(const Optimizer& optimizer);
  /// To be called after each tell. True: the watch is over.
  bool told();
  /// What was seen instead of such a moment; empty: it came.
  std::string leak() const;

 private:
  std::size_t allowed_;  // bytes more than after the warm-up
  std::size_t told_ = 0, after_warm_up_ = 0, least_later_;
};

}  // namespace culmen::conformance
