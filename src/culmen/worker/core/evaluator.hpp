// How one candidate is judged. See evaluator.h for the C ABI.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"
#include "culmen/worker/core/evaluator_spec.hpp"

namespace culmen {

/// One try at a candidate.
struct Request {
  Candidate candidate;
  Attempt attempt = 0;
};

/// Evaluates candidates, one at a time or some together, on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Starts what the evaluations need (a child that imports the function), if that has not been done. Throws Error with
  /// one sentence: cannot be imported, no such symbol.
  virtual void prepare() {}
  /// The candidate's inactive parameters are NaN. Never throws: every failure is an Outcome. duration_s is filled in.
  virtual Outcome evaluate(const Candidate& candidate, Attempt attempt) = 0;
  /// How many candidates evaluate_batch() takes together; at least 1.
  virtual std::size_t batch() const { return 1; }
  /// Several, at most batch(): their outcomes, in their order. Each takes an equal share of the duration.
  virtual std::vector<Outcome> evaluate_batch(std::span<const Request> requests);
  /// Makes a running evaluate() or prepare() return soon and later ones return at once, where the evaluator can (a
  /// child is killed). Any thread.
  virtual void interrupt() noexcept {}
};

/// Adds what an evaluator of `figures` gave as one number to the extras, under its objective's name.
void name_the_value(Outcome& outcome, const Goals& goals);

/// C++ callable: space order, own units (NaN: inactive) -> value. Exceptions become Status::failed.
using Function = std::function<Outcome(const std::vector<double>&)>;
std::unique_ptr<Evaluator> make_function_evaluator(Function function);

}  // namespace culmen
