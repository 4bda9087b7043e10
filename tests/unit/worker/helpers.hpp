// Common helpers of the worker layer's tests.
#pragma once
#include <string>
#include <vector>

#include "culmen/base/process.hpp"
#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/make_evaluator.hpp"

namespace culmen {

/// x real, n integer.
Space two_parameters();
EvaluatorSpec python_spec(const std::string& function);  ///< of samples/functions.py
EvaluatorSpec library_spec(const std::string& function, Isolation isolation);
/// `/bin/sh -c script`, its working folder fresh.
EvaluatorSpec shell_spec(const std::string& script);

/// {1.5, 2}, evaluation 7.
Candidate some_candidate();
Outcome evaluate(const EvaluatorSpec& spec, Attempt attempt = 0);
/// As a worker does: the evaluator is told the judged outcome. For the space of two_parameters().
Outcome evaluate(Evaluator& evaluator, const Candidate& candidate, Attempt attempt = 0, const Goals& goals = {});
/// Evaluates many candidates, one after the other; their values have to be their first parameters.
void expect_first_parameters(const EvaluatorSpec& spec);
/// The sentence that preparing it throws; fails when it does not.
std::string error_of_prepare(const EvaluatorSpec& spec);

/// For what would otherwise last for an hour. It measures nothing: a machine may be slow, or have other work.
constexpr double patience_s = 20;
/// Runs a condition again and again until it holds; false after `limit_s`.
template <class Condition>
bool holds_within(double limit_s, Condition&& condition);

/// Living processes with CULMEN_RUN=marker in their environment.
std::vector<pid_t> processes_of(const std::string& marker);
std::string read_file(const std::string& path);
/// A new folder under the tests' temporary one.
std::string fresh_folder();

}  // namespace culmen

#include <time.h>

#include "culmen/base/clock.hpp"

namespace culmen {
template <class Condition>
bool holds_within(double limit_s, Condition&& condition) {
  const SteadyClock clock;
  const double end_s = clock.now_s() + limit_s;
  while (!condition()) {
    if (clock.now_s() > end_s) return false;
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}
}  // namespace culmen
