// How large a population is.
#pragma once
#include <cstddef>

#include "culmen/optimizer/core/terms.hpp"

namespace culmen {

/// Of methods for several objectives: 0.6 times the root of the budget, from 10 to 100; 100 where none is known. It
/// does not depend on the workers, so that these do not change the candidates.
std::size_t population_for_several(const Terms& terms);

}  // namespace culmen
