// How much memory this program holds.
#pragma once
#include <cstddef>
#include <string>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::conformance {

/// Bytes that were allocated on the heap and not yet freed, in all threads; also under a sanitizer.
std::size_t live_bytes();

/// Looks for a leak while an optimizer is told results.
///
/// An optimizer's memory may rise and fall: CMA-ES, for example, restarts with a larger population, and frees it when
/// that run ends. The time of such a restart depends on the trajectory, so no single moment has a fixed bound. But
/// freed memory comes back, and leaked memory never does. After `tells` the watch therefore waits for one moment with
/// little more memory than after the warm-up. It gives up after `patience` times as many tells.
class MemoryWatch {
 public:
  static constexpr std::size_t tells = 100000, warm_up = tells / 10, patience = 10;

  explicit MemoryWatch(const Optimizer& optimizer);
  /// Call it after each tell. True: the watch is over.
  bool told();
  /// Empty if such a moment came, else what was seen.
  std::string leak() const;

 private:
  std::size_t allowed_;  // bytes more than after the warm-up
  std::size_t told_ = 0, after_warm_up_ = 0, least_later_;
};

}  // namespace culmen::conformance
