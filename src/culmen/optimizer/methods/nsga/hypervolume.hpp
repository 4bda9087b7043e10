// How much of the space of objectives points dominate.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/base/random.hpp"

namespace culmen::nsga {

using Values = std::vector<double>;  ///< of several objectives, each to be minimized

/// The volume of what any of these dominates and what dominates `reference`. Exact: of two objectives in O(n log n), of
/// three by slices in O(n²), of more by recursion (exclusive volumes: While, Bradstreet and Barone, IEEE Trans. Evol.
/// Comput. 16 (2012) 86), whose time grows exponentially with the objectives.
double hypervolume(std::vector<Values> points, const Values& reference);

/// How much of it only point `k` dominates.
double contribution(const std::vector<Values>& points, std::size_t k, const Values& reference);

/// Sampled figures for many objectives (HypE: Bader and Zitzler, Evol. Comput. 19 (2011) 45): what each point is
/// expected to take with it when `removed` of them, of which it is one, leave. From `samples` points between the ideal
/// point and the reference.
std::vector<double> expected_losses(const std::vector<Values>& points, std::size_t removed, const Values& reference,
                                    std::size_t samples, Random& random);

}  // namespace culmen::nsga
