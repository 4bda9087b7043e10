#include "conformance/optimizer/live_memory.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <limits>

// There only under a sanitizer, whose heap malloc's statistics do not see.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes() __attribute__((weak));

namespace culmen::conformance {
namespace {
constexpr std::size_t look_every = 50;  // tells, while it waits
}

std::size_t live_bytes() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// 8 bytes a tell, the least that a leak adds, are 720 000 from the warm-up to the first look. Of auto's members several
// have restarts, which are rarely small at the same time.
MemoryWatch::MemoryWatch(const Optimizer& optimizer)
    : allowed_(optimizer.name() == "auto" ? 1 << 21 : 1 << 19), least_later_(std::numeric_limits<std::size_t>::max()) {}

bool MemoryWatch::told() {
  ++told_;
  if (told_ == warm_up) after_warm_up_ = live_bytes();
  if (told_ >= tells && told_ % look_every == 0) least_later_ = std::min(least_later_, live_bytes());
  return told_ >= tells && (leak().empty() || told_ == patience * tells);
}

std::string MemoryWatch::leak() const {
  if (told_ < tells || least_later_ <= after_warm_up_ + allowed_) return "";
  return fmt::format("from {} to {} tells there were always {} bytes more than after {}", tells, told_,
                     least_later_ - after_warm_up_, warm_up);
}

}  // namespace culmen::conformance
