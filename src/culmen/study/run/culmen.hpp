// culmen for C++ programs: minimize a function over a space, on threads, or on the ranks of an MPI launch.
//
//   culmen::Space space{culmen::real("x", -5, 5), culmen::real("y", -5, 5)};
//   auto result = culmen::minimize([](const std::vector<double>& p) { return p[0] * p[0] + p[1] * p[1]; }, space,
//   {.evaluations = 2000});
//
// Under mpiexec every rank calls minimize() with the same arguments and gets the same result; rank 0 is the master, the
// others evaluate.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/optimizer/core/options.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

struct MinimizeOptions {
  std::uint64_t evaluations = 1000;                              ///< the budget, exact
  double target = -std::numeric_limits<double>::infinity();      ///< ends once a value is <= target
  double wall_time_s = std::numeric_limits<double>::infinity();  ///< current evaluations are then completed
  std::uint64_t stagnation = 0;  ///< ends after this many evaluations without an improvement; 0: no such limit
  std::vector<std::vector<double>> starts = {};  ///< vectors that are evaluated first
  std::size_t workers = 0;                       ///< threads; 0: one per usable CPU. Under MPI the ranks decide
  std::string optimizer = {};                    ///< a name from `culmen optimizers`; empty: one that suits the space
  OptimizerOptions optimizer_options = {};
  /// True: the candidates do not depend on the workers and their speed. False: no worker waits for others. If it is not
  /// given, a store continues in its mode. Otherwise a study is asynchronous if culmen has chosen the optimizer, if
  /// that is "auto" or "mocma", and if there are many workers and many evaluations for each of them.
  std::optional<bool> generational = {};
  std::uint64_t seed = 1;
  std::string store = {};  ///< file of the study's journal; empty: none
  bool resume = false;     ///< continue the store instead of making it
};

/// A candidate on the front: no other is better in every objective.
struct FrontPoint {
  std::vector<double> x, values;
};

struct MinimizeResult {
  std::vector<double> x;  ///< best vector, in the space's order; empty if every evaluation failed
  double value = std::numeric_limits<double>::quiet_NaN();
  std::vector<FrontPoint> front;              ///< of minimize_several
  std::optional<Recommendation> recommended;  ///< by "racing", for noisy values: `value` is then only the luckiest
  std::uint64_t evaluations = 0;              ///< told
  std::uint64_t failed = 0;                   ///< of these: the function threw, or returned NaN or infinity
  std::string message;                        ///< why it ended, one sentence
  std::string optimizer;                      ///< the optimizer that was used
  bool generational = true;                   ///< the mode that was used
  bool final = false;                         ///< false: stopped before its end; a store can be resumed
  bool is_master = true;                      ///< false in ranks other than 0
};

/// `f` is called from several threads at once (outside MPI), with one vector in the space's order. An exception is a
/// failed evaluation; the run continues. Throws InputError, StoreError or TransportError before the first evaluation.
/// Throws Error in the master if the store can no longer be written or if no worker is left.
MinimizeResult minimize(const std::function<double(const std::vector<double>&)>& f, const Space& space,
                        const MinimizeOptions& options = {});

/// The same for a vector of residuals; the value is their sum of squares.
MinimizeResult least_squares(const std::function<std::vector<double>(const std::vector<double>&)>& residuals,
                             const Space& space, const MinimizeOptions& options = {});

/// The same for `objectives` values (at least two), which are all minimized. The result is in `front`; x and value are
/// those with the best first objective. options.target and options.stagnation are for one objective: InputError.
MinimizeResult minimize_several(const std::function<std::vector<double>(const std::vector<double>&)>& f,
                                std::size_t objectives, const Space& space, const MinimizeOptions& options = {});

}  // namespace culmen
