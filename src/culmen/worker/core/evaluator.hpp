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

/// Evaluates candidates, one at a time or some together, on one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  /// Prepares evaluations, for example by a child that imports the function; does nothing the second time. Throws Error
  /// with one sentence, for example if the function cannot be imported.
  virtual void prepare() {}
  /// The candidate's inactive parameters are NaN. Never throws: every failure is an Outcome. duration_s is filled in.
  virtual Outcome evaluate(const Candidate& candidate, Attempt attempt) = 0;
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
