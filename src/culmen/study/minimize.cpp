#include "culmen/study/culmen.hpp"
#include "culmen/study/ranks.hpp"
#include "culmen/study/run.hpp"

namespace culmen {
namespace {

MinimizeResult public_result(const StudyResult& r, bool is_master) {
  MinimizeResult out;
  if (r.has_best) {
    out.x = r.best.x;
    out.value = r.best_outcome.value;
  }
  out.evaluations = r.counts.told;
  out.failed = r.counts.failed;
  out.message = r.message;
  out.optimizer = r.optimizer;
  out.final = is_final(r.reason);
  out.is_master = is_master;
  return out;
}

MinimizeResult minimize_outcome(const Function& function, ResultKind result, const Space& space,
                                const MinimizeOptions& options) {
  if (detect_launch().rank > 0) return public_result(serve_as_rank(function), false);
  StudyConfig config;
  config.space = space;
  config.evaluator.kind = EvaluatorKind::function;
  config.evaluator.isolation = Isolation::none;
  config.evaluator.result = result;
  config.evaluator_identity = "function";
  config.optimizer = options.optimizer;
  config.optimizer_options = options.optimizer_options;
  config.seed = options.seed;
  config.stop = {options.evaluations, options.target, options.wall_time_s};
  choose_optimizer(config);
  config.fingerprint = fingerprint_of(config);
  RunOptions run_options;
  run_options.workers = options.workers;
  run_options.store = options.store;
  run_options.resume = options.resume;
  Run run(std::move(config), run_options, function);
  run.prepare();
  run.execute();
  const auto found = run.conclude();
  if (found.reason == StopReason::error) throw Error(found.message);
  return public_result(found, true);
}

}  // namespace

MinimizeResult minimize(const std::function<double(const std::vector<double>&)>& f, const Space& space,
                        const MinimizeOptions& options) {
  const auto outcome = [&f](const std::vector<double>& x) { return Outcome::of_value(f(x)); };
  return minimize_outcome(outcome, ResultKind::value, space, options);
}

MinimizeResult least_squares(const std::function<std::vector<double>(const std::vector<double>&)>& residuals,
                             const Space& space, const MinimizeOptions& options) {
  const auto outcome = [&residuals](const std::vector<double>& x) { return Outcome::of_residuals(residuals(x)); };
  return minimize_outcome(outcome, ResultKind::residuals, space, options);
}

}  // namespace culmen
