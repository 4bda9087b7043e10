// Asynchronous CMA-ES: it learns from results as they arrive, whatever distribution their points were drawn from.
#pragma once
#include <memory>
#include <optional>

#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/optimizer/methods/cmaes/distribution.hpp"

namespace culmen::cmaes {

/// How results count if their points were drawn from an older distribution. Weighted: the weight is the ratio of the
/// present density at the point to the density from which the point was drawn. The point is moved by half of the mean's
/// movement since then. Steps are counted from the results' own mean, which is shifted towards quick evaluations.
enum class Stale : unsigned char {
  corrected,  ///< weighted; while a polynomial predicts new results, steps follow it (see Quadratic)
  weighted,   ///< without the polynomial
  ignored,    ///< they count as if they had been drawn just now
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
