// The volume of the objective space that points dominate.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::nsga {

using Values = std::vector<double>;  ///< of several objectives, each to be minimized

/// The volume between `reference` and the points that any of these dominates. Exact: O(n log n) for two objectives,
/// O(n²) by slices for three. For more objectives it is recursive (exclusive volumes: While, Bradstreet and Barone,
/// IEEE Trans. Evol. Comput. 16 (2012) 86), and its time grows exponentially with their number.
double hypervolume(std::vector<Values> points, const Values& reference);

/// The part of this volume that only point `k` dominates.
double contribution(const std::vector<Values>& points, std::size_t k, const Values& reference);

/// Sampled estimates for many objectives (HypE: Bader and Zitzler, Evol. Comput. 19 (2011) 45). For each point: the
/// expected loss of volume through it if `removed` points, including this one, are removed. Uses `samples` points
/// between the ideal point and the reference.
std::vector<double> expected_losses(const std::vector<Values>& points, std::size_t removed, const Values& reference,
                                    std::size_t samples, Random& random);

}  // namespace culmen::nsga
