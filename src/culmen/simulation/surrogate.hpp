// A test function in the place of the user's: simulations need values, not those of the study.
#pragma once
#include <memory>

#include "culmen/simulation/durations.hpp"
#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// Sums of squares over unit vectors, with the minimum 0 at a point inside the bounds.
enum class TestFunction : unsigned char {
  sphere = 0,
  rosenbrock = 1,  ///< Rosenbrock, Comput. J. 3 (1960) 175: a curved valley
  rastrigin = 2,   ///< Rastrigin, Systems of extremal control (1974): many local minima
};

/// Gives what the study needs: a value, residuals (the squares sum up to the value), or named figures. Several
/// objectives have their minima at different points. A figure with a limit is within its limit. Inactive parameters
/// count as if they were at the minimum. An outcome's duration is that of `durations`.
std::unique_ptr<Evaluator> make_surrogate(TestFunction function, const SetUp& set_up, Durations durations);

}  // namespace culmen
