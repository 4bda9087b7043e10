// The Sobol sequence with a digital shift.
#pragma once
#include <boost/random/sobol.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen {

/// The Sobol sequence with the direction numbers of Joe and Kuo (SIAM J. Sci. Comput. 30, 2008), from Boost.Random, in
/// Gray code order (Antonov and Saleev 1979). Each coordinate is XORed with a random word. This digital shift keeps
/// every 2^m points a digital net and makes different seeds independent.
class SobolSequence {
 public:
  static constexpr std::size_t most_dimensions = boost::random::default_sobol_table::max_dimension;

  /// dimensions: at most most_dimensions.
  SobolSequence(std::size_t dimensions, std::uint64_t seed) : engine_(dimensions), shift_(dimensions) {
    Random random(seed);
    for (auto& word : shift_) word = random.next();
  }

  /// The next point of [0, 1)^dimensions.
  void next(std::span<double> point) {
    for (std::size_t i = 0; i < point.size(); ++i)
      point[i] = static_cast<double>((word() ^ shift_[i]) >> 11) * 0x1.0p-53;
    at_origin_ = false;
  }

 private:
  // Boost leaves out the sequence's first point, the origin. After the shift it is as good as any other.
  std::uint64_t word() { return at_origin_ ? 0 : engine_(); }

  boost::random::sobol_engine<std::uint64_t, 64> engine_;
  std::vector<std::uint64_t> shift_;
  bool at_origin_ = true;
};

}  // namespace culmen
