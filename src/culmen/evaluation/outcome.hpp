// The outcome of an evaluation. A failure is a value, never an exception through the engine.
#pragma once
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "culmen/base/bytes.hpp"

namespace culmen {

enum class Status : unsigned char {
  ok = 0,
  failed = 1,       ///< the function raised an exception or returned an error; a command exited non-zero
  crashed = 2,      ///< the process died by a signal, or ended without an answer
  timed_out = 3,    ///< the time limit passed; the whole process group was killed
  not_finite = 4,   ///< a value or residual is NaN or infinite
  wrong_shape = 5,  ///< the result is not one number (or not a vector of residuals)
};

const char* to_string(Status status);

struct Outcome {
  Status status = Status::ok;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< the (first) objective, to be minimized; NaN unless ok
  std::vector<double> values;     ///< several objectives: all of them, to be minimized; else empty
  double violation = 0;           ///< ≥ 0; the violation of constraints; 0: feasible
  std::vector<double> residuals;  ///< least squares: the loss gives the value (see loss.hpp); else empty
  std::vector<std::pair<std::string, double>> extras;  ///< extra values by name
  std::string message;                                 ///< unless ok: the reason, and the end of the log
  double duration_s = 0;                               ///< as the worker measured it
  Bytes payload;                                       ///< opaque; for an Executor's item. Stores do not keep it
  bool ok() const { return status == Status::ok; }
  bool feasible() const { return ok() && !(violation > 0); }
  /// The extra value of that name; none if there is none.
  std::optional<double> extra(std::string_view name) const;

  static Outcome of_value(double value);
  /// Sums the squares in order.
  static Outcome of_residuals(std::vector<double> residuals);
  static Outcome failure(Status status, std::string message);
  /// Which number of an ok outcome is NaN or infinite; empty if none is.
  std::string not_finite() const;
  /// An ok outcome with a NaN or infinite number becomes not_finite, with the name of that number.
  void check_finite();
};

/// Whether `a` is better: a success is better than a failure, then the smaller violation is better (Deb, Comput.
/// Methods Appl. Mech. Eng. 186 (2000) 311), then the lower value. False if they are equal.
bool better(const Outcome& a, const Outcome& b);
/// The value that is compared with a target: infinite if a constraint is violated.
double merit_of(const Outcome& outcome);

}  // namespace culmen
