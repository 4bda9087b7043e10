// Sleeping on a word of shared memory, and waking the sleeper: the only file that speaks to the kernel's futexes. C++'s
// own atomic wait does not reach another process (libstdc++ uses private futexes), see futex(2).
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>

namespace culmen {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "a futex is a plain 32-bit word");

inline constexpr double forever_s = std::numeric_limits<double>::infinity();

/// Sleeps while the word holds `expected`: returns at once when it does not, else after a wake, a signal, or at_most_s
/// seconds. The caller looks again in every case.
void futex_wait(Word& word, std::uint32_t expected, double at_most_s = forever_s) noexcept;
/// Wakes one sleeper, in whatever process. Async-signal-safe; leaves errno alone.
void futex_wake(Word& word) noexcept;

}  // namespace culmen
