#include "culmen/transport/mailbox/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <ctime>

namespace culmen {

namespace {
constexpr double longest_s = 1e8;  // three years; it fits into a time_t of any width
}

void futex_wait(Word& word, std::uint32_t expected, double at_most_s) noexcept {
  if (!(at_most_s > 0)) return;
  timespec limit{};
  const bool limited = at_most_s < longest_s;
  if (limited) {
    limit.tv_sec = static_cast<time_t>(at_most_s);
    limit.tv_nsec = static_cast<long>((at_most_s - std::floor(at_most_s)) * 1e9);
  }
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, limited ? &limit : nullptr, nullptr, 0);
}

void futex_wake(Word& word) noexcept {
  const int before = errno;
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  errno = before;
}

}  // namespace culmen
