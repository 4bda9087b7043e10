// The numbers by which culmen's parts refer to each other.
#pragma once
#include <cstdint>

namespace culmen {

using EvaluationId = std::uint64_t;  ///< 0, 1, 2, … in the order in which the optimizer was asked
using WorkerId = std::uint32_t;      ///< 0, 1, 2, …; never reused within one start of the master
using Attempt = std::uint32_t;       ///< 0 for the first attempt at an evaluation
using JobId = std::uint64_t;         ///< 0, 1, 2, … in the order in which an optimizer gave them out
using Epoch = std::uint32_t;         ///< 1 for the first start of a study's master, one more at each resume

}  // namespace culmen
