// The interface of evaluators, which judge candidates. See evaluator.h for the C ABI.
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

/// Candidates that wait while an evaluator is busy. For the evaluator's thread.
class Upcoming {
 public:
  virtual ~Upcoming() = default;
  /// The candidate of the next call, if it has arrived; else null. Valid until that call.
  virtual const Request* next() = 0;
  /// For poll(): a descriptor that is readable once a candidate arrives after this call. -1: there is none.
  virtual int arrivals() { return -1; }
};

/// Evaluates candidates, one at a time or some together, on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Prepares evaluations, for example by a child that imports the function; does nothing the second time. Throws Error
  /// with one sentence, for example if the function cannot be imported.
  virtual void prepare() {}
  /// The candidate's inactive parameters are NaN. Never throws: every failure is an Outcome. duration_s is filled in.
  virtual Outcome evaluate(const Candidate& candidate, Attempt attempt) = 0;
  /// The same. The evaluator may send the upcoming candidate to a child that is still busy, so that the child continues
  /// without a pause. If the next call gets another candidate, that child is lost.
  virtual Outcome evaluate_ahead(const Candidate& candidate, Attempt attempt, Upcoming& /*upcoming*/) {
    return evaluate(candidate, attempt);
  }
  /// How many candidates evaluate_batch() takes together; at least 1.
  virtual std::size_t batch() const { return 1; }
  /// Evaluates at most batch() candidates. Returns their outcomes in their order, each with an equal share of the time.
  virtual std::vector<Outcome> evaluate_batch(std::span<const Request> requests);
  /// After each evaluation: its outcome, as the goals of the study judge it. For what depends on success, such as the
  /// files that stay. Throws only ResourceError.
  virtual void judged(const Outcome& /*outcome*/) {}
  /// If the evaluator can (it kills a child), a running evaluate() or prepare() returns soon, and later ones return at
  /// once. Any thread.
  virtual void interrupt() noexcept {}
};

/// For ResultKind::figures: adds an outcome that is one number to the extras, under the name of the objective.
void name_the_value(Outcome& outcome, const Goals& goals);

/// C++ callable: space order, own units (NaN: inactive) -> value. Exceptions become Status::failed.
using Function = std::function<Outcome(const std::vector<double>&)>;
std::unique_ptr<Evaluator> make_function_evaluator(Function function);

}  // namespace culmen
