// Asynchronous CMA-ES: it learns from results as they arrive, whatever distribution their points were drawn from.
#pragma once
#include <memory>
#include <optional>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// How results count whose points were drawn from an older distribution.
enum class Stale : unsigned char {
  corrected,  ///< weighted, and while a polynomial foretells new results, steps follow it (see Quadratic)
  weighted,  ///< each counts by the ratio of the present density at its point to the one that it was drawn from, and is
             ///< taken along half of the way that the mean has gone since; steps are counted from the results' own
             ///< mean, which lies where evaluations are quick
  ignored,   ///< they count as if they had been drawn just now
};

struct AsynchronousSettings {
  std::optional<std::size_t> population;  ///< results between two updates; none: half the number of workers
  std::size_t parallel = 1;               ///< the expected number of workers, until it is told more
  double sigma;                           ///< of the first run, in the unit cube
  Stale stale = Stale::corrected;
  Correlations correlations = Correlations::full;
  bool lagrangian = true;  ///< if there are constraint figures; false: infeasible points rank last
};

/// Always has a candidate. Learns from every `population` results, in order of arrival. Weights by densities:
/// Shirakawa, Akimoto, Ouchi and Ohara, "Sample reuse in the covariance matrix adaptation evolution strategy based on
/// importance sampling" (GECCO 2015). Restarts follow Bipop; late results of a run that has ended are ignored. If there
/// are more than four times as many workers as a run's population, further runs start in parallel and get the
/// candidates that the older runs cannot use. If the number of workers changes after the first update, it affects only
/// restarts.
///
/// The cost per candidate is O(n²), or O(n) without correlations or with limited ones. Up to 20 real parameters a
/// polynomial is fitted as well, each time when three quarters as many results have come as it has coefficients. This
/// takes up to half a millisecond; from 13 parameters on it is a job of up to five. With a Lagrangian no polynomial is
/// fitted, because its multipliers learn at each update.
std::unique_ptr<Optimizer> make_asynchronous(const Space& space, std::uint64_t seed,
                                             const AsynchronousSettings& settings, const Yield& yield);

}  // namespace culmen::cmaes
