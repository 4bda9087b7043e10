// What an evaluation came to. A failure is a value, never an exception through the engine.
#pragma once
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "culmen/base/bytes.hpp"

namespace culmen {

enum class Status : unsigned char {
  ok = 0,
  failed = 1,       ///< the function raised an exception or returned an error; a command exited non-zero
  crashed = 2,      ///< the process died by a signal, or left without an answer
  timed_out = 3,    ///< the time limit passed; the whole process group was killed
  not_finite = 4,   ///< a value or residual is NaN or infinite
  wrong_shape = 5,  ///< not one number (or not a vector of residuals) came back
};

const char* to_string(Status status);

struct Outcome {
  Status status = Status::ok;
  double value = std::numeric_limits<double>::quiet_NaN();  ///< the (first) objective, to be minimized; NaN unless ok
  std::vector<double> values;                          ///< several objectives: all of them, to be minimized; else empty
  double violation = 0;                                ///< ≥ 0; by how much constraints do not hold; 0: feasible
  std::vector<double> residuals;                       ///< least squares: value is their sum of squares; else empty
  std::vector<std::pair<std::string, double>> extras;  ///< named extra figures
  std::string message;                                 ///< unless ok: what happened, and the log's tail
  double duration_s = 0;                               ///< as the worker measured it
  Bytes payload;                                       ///< opaque; of an Executor's item. Not kept by stores
  bool ok() const { return status == Status::ok; }
  bool feasible() const { return ok() && !(violation > 0); }

  static Outcome of_value(double value);
  /// Sums the squares in order.
  static Outcome of_residuals(std::vector<double> residuals);
  static Outcome failure(Status status, std::string message);
  /// Turns an ok outcome with a NaN or infinite figure into not_finite, naming the figure.
  void check_finite();
};

/// Whether `a` is the better of two: what did not fail before what did, less violation before more (Deb, Comput.
/// Methods Appl. Mech. Eng. 186 (2000) 311), then the lesser value. False among equals.
bool better(const Outcome& a, const Outcome& b);
/// The value where it counts towards a target: infinite where a constraint is violated.
double merit_of(const Outcome& outcome);

}  // namespace culmen
