// An optimizer of local searches: from the space's start, then from ever new ones.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "culmen/optimizer/core/kind.hpp"
#include "culmen/optimizer/methods/local/local_search.hpp"

namespace culmen::local {

using MakeSearch = std::function<std::unique_ptr<LocalSearch>(const Start&)>;
using ReadOptions = std::function<MakeSearch(const OptimizerOptions&)>;

/// Multi-start of the searches that `search` makes, for real parameters, in the unit cube. The first begins at the
/// space's start. The next begin as in multi-level single linkage (Rinnooy Kan and Timmer, Mathematical Programming 39
/// (1987) 57): of the points of a Sobol sequence that were evaluated, the best from which none better lies within a
/// critical distance, and no minimum that is known. `descents` of them go on at a time. Its own options are joined with
/// those of every multi-start: descents, noise, screen, step.
OptimizerKind descents_kind(OptimizerInfo info, double step, ReadOptions search);

}  // namespace culmen::local
