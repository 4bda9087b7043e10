#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/core/guarded.hpp"

namespace culmen {
namespace {
class FunctionEvaluator final : public Evaluator {
 public:
  explicit FunctionEvaluator(Function function) : function_(std::move(function)) {}
  Outcome evaluate(const Candidate& candidate, Attempt) override {
    return guarded([&] { return function_(candidate.x); });
  }

 private:
  Function function_;
};
}  // namespace

std::unique_ptr<Evaluator> make_function_evaluator(Function function) {
  return std::make_unique<FunctionEvaluator>(std::move(function));
}

}  // namespace culmen
