// An optimizer that runs local searches: first from the space's start, then from new points.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "culmen/optimizer/core/kind.hpp"
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

using MakeSearch = std::function<std::unique_ptr<LocalSearch>(const Start&)>;
using ReadOptions = std::function<MakeSearch(const OptimizerOptions&)>;

/// Multi-start of the searches that `search` makes, for real parameters, in the unit cube. The first one begins at the
/// space's start. The next ones begin as in multi-level single linkage (Rinnooy Kan and Timmer, Mathematical
/// Programming 39 (1987) 57). They start at the best evaluated point of a Sobol sequence that has no better point and
/// no known minimum within a critical distance. `descents` of them run in parallel. The options are those of `info` and
/// those of every multi-start: descents, noise, screen, step.
OptimizerKind descents_kind(OptimizerInfo info, double step, ReadOptions search);

}  // namespace culmen::local
