// How large a population is.
#pragma once
#include <cstddef>

#include "culmen/optimizer/core/terms.hpp"

namespace culmen {

/// For methods with several objectives: 0.6 times the square root of the budget, from 10 to 100; 100 without a budget.
/// It does not depend on the number of workers, which must not change the candidates.
std::size_t population_for_several(const Terms& terms);

}  // namespace culmen
