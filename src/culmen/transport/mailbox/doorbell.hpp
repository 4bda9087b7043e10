// Sleeping on a word of shared memory, and waking the sleeper: only this file uses the kernel's futexes. C++'s
// own atomic wait does not reach other processes (libstdc++ uses private futexes), see futex(2).
#pragma once
#include <atomic>
#include <cstdint>
#include <limits>

namespace culmen {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 4, "a futex is a plain 32-bit word");

inline constexpr double forever_s = std::numeric_limits<double>::infinity();

/// Sleeps while the word holds `expected`: returns at once if it does not, else after a wake, a signal, or at_most_s
/// seconds. The caller must check again in every case.
void futex_wait(Word& word, std::uint32_t expected, double at_most_s = forever_s) noexcept;
/// Wakes one sleeper in any process. Async-signal-safe; does not change errno.
void futex_wake(Word& word) noexcept;

}  // namespace culmen
