// culmen for C++ programs: minimizes a function on threads or on MPI ranks.
//
//   culmen::Space space{culmen::real("x", -5, 5), culmen::real("y", -5, 5)};
//   auto sum = [](const std::vector<double>& p) { return p[0] * p[0] + p[1] * p[1]; };
//   auto result = culmen::minimize(sum, space, {.evaluations = 2000});
//
// Under mpiexec every rank calls minimize() with the same arguments. Every rank gets the same result.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/loss.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/optimizer/core/options.hpp"
#include "culmen/space/space.hpp"

namespace culmen {

/// Settings for workers of other machines. One program runs the study and listens. Programs on other machines call the
/// same function with the same space, and join the run.
struct OtherMachines {
  /// The address at which the run waits for workers, such as "wss://0.0.0.0:7443". Empty: the run does not listen. A
  /// run that listens has its own threads for evaluations only if MinimizeOptions::workers is not 0.
  std::string listen = {};
  /// The address of a run, such as "wss://host:7443". This program then evaluates for that run with
  /// MinimizeOptions::workers threads, until that run ends. The result then contains is_master = false and the number
  /// of evaluations, but no parameters.
  std::string join = {};
  /// A file with a password that the run and its workers share. If the file does not exist, the run creates it. The
  /// path may be empty only if the run listens at 127.0.0.1.
  std::string token_file = {};
  /// For a run at wss://: a PEM file with the certificate and the key. If the file does not exist, the run creates it.
  /// Empty: each run makes a new certificate.
  std::string certificate = {};
  /// For workers at wss://: the fingerprint of the run's certificate, 64 hexadecimal digits. Empty: an authority must
  /// have signed the certificate.
  std::string fingerprint = {};
  /// True: the run may listen without encryption at addresses other than 127.0.0.1.
  bool insecure = false;
  std::size_t io_threads = 1;              ///< number of threads that encrypt, send and receive; from 1 to 256
  std::size_t largest_message_mib = 1024;  ///< the run refuses workers that send larger messages; from 1 to 4095
  double patience_s = 60;  ///< workers try to connect for this time, at the start and after a lost connection
  /// A text that identifies the function, such as "pion fit 2". The run refuses workers with another text. Empty: the
  /// executables of the run and of its workers must have the same content.
  std::string version = {};
  /// Called when the run listens, with the address and the fingerprint that other machines need. Empty: the run prints
  /// the address and the fingerprint on standard error.
  std::function<void(const std::string& address, const std::string& fingerprint)> listening = {};
};

struct MinimizeOptions {
  std::uint64_t evaluations = 1000;                              ///< stops after this number of evaluations
  double target = -std::numeric_limits<double>::infinity();      ///< stops at this value or a lower one
  double wall_time_s = std::numeric_limits<double>::infinity();  ///< starts no evaluation after this number of seconds
  std::uint64_t stagnation = 0;                  ///< stops after N evaluations without an improvement; 0: no such limit
  std::vector<std::vector<double>> starts = {};  ///< points that are evaluated first
  std::size_t workers = 0;                       ///< number of threads; 0: one per CPU. Ignored under MPI
  std::size_t team_size = 0;  ///< under MPI: number of ranks that evaluate a point together; see minimize() with a team
  std::string optimizer = {};               ///< a name from `culmen optimizers`; empty: culmen chooses
  OptimizerOptions optimizer_options = {};  ///< `culmen optimizers NAME` lists the options
  /// True: the candidates do not depend on the number of workers or on their speed. False: no worker waits for others.
  /// Not given: culmen chooses. A resumed study keeps its mode.
  std::optional<bool> generational = {};
  std::uint64_t seed = 1;  ///< of the random numbers
  /// For least_squares(): the loss, which computes the value from the residuals. Example: {LossKind::soft_l1, 0.1} if
  /// some residuals are outliers. The default is the sum of the squared residuals.
  Loss loss = {};
  /// For least_squares(): compute the errors of the parameters, with two further evaluations for each real parameter.
  bool errors = true;
  std::string store = {};       ///< the file that keeps all results; empty: no file
  bool resume = false;          ///< true: continues the study in the store. False: creates the store
  OtherMachines machines = {};  ///< workers of other machines
};

/// A point of the Pareto front.
struct FrontPoint {
  std::vector<double> x, values;
};

struct MinimizeResult {
  std::vector<double> x;                                    ///< best parameters; empty if every evaluation failed
  double value = std::numeric_limits<double>::quiet_NaN();  ///< value of the best parameters
  std::vector<FrontPoint> front;                            ///< the result of minimize_several()
  /// The result of least_squares(): the error (standard deviation) of each parameter. NaN: the parameter has no error,
  /// because it is not real, is at a bound, is inactive, is not determined by the residuals, or because evaluations
  /// near the best point failed. Empty: the fit did not reach its end, MinimizeOptions::errors is false, or
  /// errors_message contains the reason.
  ///
  /// The value rises by 1 if a parameter moves by its error and the other parameters are fitted again. The residuals
  /// must therefore be in units of their standard deviations. If the standard deviations are unknown but equal,
  /// multiply the errors by √(value / (number of residuals - number of parameters)). Do not use this factor with a
  /// robust loss.
  std::vector<double> errors;
  std::vector<std::vector<double>> covariance;  ///< covariance matrix of the parameters; see `errors`
  /// With a robust loss: a second error of each parameter. This error is correct for any distribution of the residuals,
  /// with or without outliers. The standard deviations of the residuals may be unknown.
  std::vector<double> sandwich;
  /// Why a fit has no errors, or why some parameters have no error. Examples: an evaluation failed (with its message),
  /// the best point lies on a constraint, or no worker is left.
  std::string errors_message;
  std::optional<Recommendation> recommended;  ///< the point that "racing" or "bayes" recommends
  std::uint64_t evaluations = 0;              ///< number of evaluations
  std::uint64_t failed = 0;                   ///< number of evaluations that failed
  std::string message;                        ///< why the study stopped
  std::string optimizer;                      ///< the optimizer that was used
  bool generational = true;                   ///< the mode that was used
  bool final = false;                         ///< false: the study can be resumed if it has a store
  bool is_master = true;                      ///< true in rank 0, and without MPI, except with OtherMachines::join
};

/// Minimizes `f`. The argument of `f` has one value per parameter, in the order of the space. Without MPI, several
/// threads call `f` at the same time.
///
/// An evaluation fails if `f` throws an exception, or returns NaN or infinity. The study then continues.
///
/// Before the first evaluation, throws InputError, StoreError or TransportError. Later, throws Error if the store
/// cannot be written or if no worker is left. With OtherMachines::join, throws InputError if the run refuses the
/// workers, and TransportError if the workers lose the connection to the run.
MinimizeResult minimize(const std::function<double(const std::vector<double>&)>& f, const Space& space,
                        const MinimizeOptions& options = {});

/// Minimizes a function that the ranks of a team call together, with the same values. MPI_Comm_f2c(communicator) is the
/// communicator of the team. The result is the value of the team's first rank. If `f` throws on one rank, the
/// evaluation fails. options.team_size is the number of ranks of a team.
MinimizeResult minimize(const std::function<double(const std::vector<double>&, int communicator)>& f,
                        const Space& space, const MinimizeOptions& options);

/// Minimizes the sum of the squared residuals, or a robust loss; see MinimizeOptions::loss.
MinimizeResult least_squares(const std::function<std::vector<double>(const std::vector<double>&)>& residuals,
                             const Space& space, const MinimizeOptions& options = {});

/// least_squares() for a function that the ranks of a team call together.
MinimizeResult least_squares(
    const std::function<std::vector<double>(const std::vector<double>&, int communicator)>& residuals,
    const Space& space, const MinimizeOptions& options);

/// Minimizes several values: `f` returns `objectives` values, at least two. The result is `front`. x and value
/// belong to the point of `front` with the best first objective. Do not set options.target or options.stagnation.
MinimizeResult minimize_several(const std::function<std::vector<double>(const std::vector<double>&)>& f,
                                std::size_t objectives, const Space& space, const MinimizeOptions& options = {});

}  // namespace culmen
