// Common to all evaluations in this process.
#pragma once
#include <exception>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/evaluation/outcome.hpp"

namespace culmen {

/// Runs `judge() -> Outcome` and fills in the duration. Exceptions other than ResourceError become Status::failed; NaN
/// becomes not_finite.
template <class Judge>
Outcome guarded(Judge&& judge) {
  const SteadyClock clock;
  const double start_s = clock.now_s();
  Outcome outcome;
  try {
    outcome = judge();
  } catch (const ResourceError&) {
    throw;
  } catch (const std::exception& error) {
    outcome = Outcome::failure(Status::failed, error.what());
  } catch (...) {
    outcome = Outcome::failure(Status::failed, "an exception that is not a std::exception");
  }
  outcome.check_finite();
  outcome.duration_s = clock.now_s() - start_s;
  return outcome;
}

}  // namespace culmen
