// CMA-ES that never waits: results are learnt from as they arrive, whatever distribution their points were drawn from.
#pragma once
#include <memory>
#include <optional>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// What is done about results of points that were drawn before the distribution moved on.
enum class Stale : unsigned char {
  corrected,  ///< weighted, and while a polynomial foretells new results, steps follow it (see Quadratic)
  weighted,  ///< each counts by the ratio of the present density at its point to the one that it was drawn from, and is
             ///< taken along half of the way that the mean has gone since; steps are counted from the results' own
             ///< mean, which lies where evaluations are quick
  ignored,   ///< they count as if they had been drawn just now
};

struct AsynchronousSettings {
  std::optional<std::size_t> population;  ///< results between two updates; none: half as many as workers
  std::size_t parallel = 1;               ///< workers that are expected, until it hears of more
  double sigma;                           ///< of the first run, in the unit cube
  Stale stale = Stale::corrected;
  Correlations correlations = Correlations::full;
  bool lagrangian = true;  ///< where there are constraints to see; else what violates them is last
};

/// Always has a candidate. Learns from every `population` results, in order of arrival. Weights by densities:
/// Shirakawa, Akimoto, Ouchi and Ohara, "Sample reuse in the covariance matrix adaptation evolution strategy based on
/// importance sampling" (GECCO 2015). Restarts are those of Bipop; what is told of a run that is over is not learnt
/// from. Where workers are more than four times a run's population, further runs begin beside it, which get what the
/// older ones cannot use. A number of workers that changes after the first update counts for the restarts. Costs O(n²)
/// a candidate, O(n) without correlations or with limited ones, and up to 20 real parameters the fit of a polynomial
/// every three quarters as many results as it has coefficients: up to half a millisecond, or from 13 parameters on a
/// job of up to five. Under a Lagrangian, whose multipliers learn at each update, no polynomial is fitted.
std::unique_ptr<Optimizer> make_asynchronous(const Space& space, std::uint64_t seed,
                                             const AsynchronousSettings& settings, const Yield& yield);

}  // namespace culmen::cmaes
