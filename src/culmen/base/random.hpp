// The study's only randomness. The same numbers on every platform: no std:: distribution is used.
#pragma once
#include <array>
#include <cstdint>

namespace culmen {

/// xoshiro256++ 1.0 (Blackman and Vigna 2019), seeded through splitmix64. Not thread-safe; copyable: a copy continues
/// the same sequence.
class Random {
 public:
  /// `stream` separates independent sequences of one seed.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);
  std::uint64_t next();
  /// In [0, 1), 53 bits.
  double uniform();
  /// In {0, …, n-1}; n > 0; without bias.
  std::uint64_t below(std::uint64_t n);
  /// Standard normal (polar method, Marsaglia 1964; one spare is kept).
  double normal();

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace culmen
