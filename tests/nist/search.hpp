// One search for a set's parameters, without an engine.
#pragma once
#include <cstdint>
#include <string>

#include "nist/strd.hpp"

namespace culmen::nist {

struct Found {
  double sum = 0;                         ///< the least
  double digits = 0;                      ///< of the parameters that gave it
  std::size_t evaluations_to_digits = 0;  ///< after which the best had 6 digits, and kept them to the end; 0: never
  std::size_t evaluations = 0;            ///< all
};

/// Runs `optimizer` in box_of(starts) and tells it residuals. Stops after `budget` evaluations, or `afterwards`
/// evaluations after it had 6 digits, or when the optimizer ends.
Found search(const Set& set, const std::string& optimizer, std::uint64_t seed, std::size_t budget,
             std::size_t afterwards);

}  // namespace culmen::nist
