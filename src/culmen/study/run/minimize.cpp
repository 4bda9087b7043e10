#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/config/search.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/run/culmen.hpp"
#include "culmen/study/run/fit_errors.hpp"
#include "culmen/study/run/further.hpp"
#include "culmen/study/run/other_machines.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace culmen {
namespace {

MinimizeResult public_result(const StudyResult& r, const Space& space, bool is_master) {
  MinimizeResult out;
  if (r.has_best) {
    out.x = space.spread(r.best.x);
    out.value = r.best_outcome.value;
  }
  for (const auto& member : r.front.members())
    out.front.push_back({space.spread(member.candidate.x), member.outcome.values});
  out.recommended = r.recommended;
  if (out.recommended) out.recommended->x = space.spread(out.recommended->x);
  out.evaluations = r.counts.told;
  out.failed = r.counts.failed;
  out.message = r.message;
  out.optimizer = r.optimizer;
  out.generational = r.mode == Mode::generational;
  out.final = is_final(r.reason);
  out.is_master = is_master;
  return out;
}

Goals goals_of(std::size_t objectives) {
  Goals goals;
  for (std::size_t k = 0; k < objectives; ++k) goals.objectives.push_back({fmt::format("value{}", k + 1)});
  return goals;
}

std::vector<double> roots_of_diagonal(const std::vector<std::vector<double>>& matrix) {
  std::vector<double> out;
  for (std::size_t i = 0; i < matrix.size(); ++i) out.push_back(std::sqrt(matrix[i][i]));
  return out;
}

/// `find` returns the errors; it is called if there are any.
template <class Find>
MinimizeResult with_errors(MinimizeResult result, const Space& space, const StudyResult& ended, Find find) {
  if (!has_errors(space, ended)) return result;
  result.errors_message = constraint_at_best(space, ended);
  if (!result.errors_message.empty()) return result;
  FitErrors found = find();
  result.errors = roots_of_diagonal(found.covariance);
  result.sandwich = roots_of_diagonal(found.sandwich);
  result.covariance = std::move(found.covariance);
  result.errors_message = std::move(found.message);
  return result;
}

MinimizeResult result_of_rank(const OwnEvaluators& own, const Space& space, bool errors) {
  const auto found = serve_as_rank(own);
  auto out = public_result(found, space, false);
  if (!errors) return out;
  return with_errors(std::move(out), space, found, [&] { return errors_from_master(own); });
}

void check_team(const OwnEvaluators& own, std::size_t size) {
  const bool in_team = own.function == nullptr;
  if (in_team && size == 0)
    throw InputError("the function takes a communicator, but team_size is 0; give the number of ranks of a team");
  if (!in_team && size > 0)
    throw InputError(fmt::format(
        "team_size = {}, but the function takes no communicator; let it take one, or remove team_size", size));
}

/// Workers of other machines may stay after the run. Then they leave at the end of this object.
class Dismissal {
 public:
  explicit Dismissal(RunOptions options) : options_(std::move(options)) {}
  ~Dismissal() { dismiss_visitors(options_); }
  Dismissal(const Dismissal&) = delete;
  Dismissal& operator=(const Dismissal&) = delete;

 private:
  RunOptions options_;
};

MinimizeResult result_of_joined(std::uint64_t evaluations) {
  MinimizeResult out;
  out.evaluations = evaluations;
  out.message = fmt::format("{} evaluations were done here", evaluations);
  out.is_master = false;
  return out;
}

MinimizeResult minimize_outcome(const OwnEvaluators& own, ResultKind result, const Space& space,
                                const MinimizeOptions& options, std::size_t objectives = 0) {
  const auto& function = own.function;
  check_team(own, options.team_size);
  if (space.size() == 0) throw InputError("the space has no parameter; give at least one");
  if (options.resume && options.store.empty())
    throw InputError("resume = true needs a store, but store is empty; give its file name");
  options.loss.check();
  if (!options.loss.linear() && result != ResultKind::residuals)
    throw InputError("options.loss is for residuals; call least_squares(), or remove the loss");
  check(options.machines);
  const bool joins = !options.machines.join.empty();
  if (joins && detect_launch().is_rank())
    throw InputError("join is for programs outside MPI; start this program without a launcher");
  if (joins && !function)
    throw InputError("workers that join a run cannot be in a team; let the function take no communicator");
  if (detect_launch().rank > 0) return result_of_rank(own, space, options.errors);
  StudyConfig config;
  config.space = space;
  config.goals = goals_of(objectives);
  config.goals.loss = options.loss;
  for (const auto& start : options.starts) config.starts.push_back(space.searched(start));
  config.evaluator.isolation = Isolation::none;
  config.evaluator.result = result;
  config.evaluator_identity = "function";
  config.optimizer = options.optimizer;
  config.optimizer_options = options.optimizer_options;
  if (options.generational) config.mode = mode_of_user(*options.generational);
  config.seed = options.seed;
  config.stop = {options.evaluations, options.target, options.wall_time_s, options.stagnation};
  choose_optimizer(config);
  config.fingerprint = fingerprint_of(config);
  if (joins) return result_of_joined(work_elsewhere(config, options.machines, options.workers, function));
  RunOptions run_options;
  run_options.listening = listening_of(options.machines);
  run_options.workers = options.workers;
  run_options.team_size = options.team_size;
  run_options.store = options.store;
  run_options.resume = options.resume;
  const bool is_fit = options.errors && result == ResultKind::residuals;
  if (is_fit) keep_visitors(run_options);
  const Dismissal at_end(run_options);
  Run run(config, run_options, function);
  run.prepare();
  announce(options.machines, run.door());
  run.execute();
  const auto found = run.conclude();
  if (found.store_failed) throw StoreError(found.message);
  if (found.reason == StopReason::error) throw Error(found.message);
  auto out = public_result(found, space, true);
  if (!is_fit) return out;
  try {
    run_options = remaining_workers(run_options);
  } catch (const InputError& error) {
    out.errors_message = std::string(error.what()) + "; give workers, too";
    return out;
  }
  return with_errors(std::move(out), space, found, [&] { return errors_of_fit(config, run_options, function, found); });
}

/// `outcome_of(x, communicator)`
template <class OutcomeOf>
OwnEvaluators in_team(OutcomeOf outcome_of) {
  return {{}, [outcome_of](const SetUp&, const Team& team) {
            return make_function_evaluator(
                [outcome_of, &team](const std::vector<double>& x) { return outcome_of(x, team.communicator); });
          }};
}

void check_function(bool there, const char* name) {
  if (!there)
    throw InputError(fmt::format("{}() got an empty function; give one that takes a std::vector<double>", name));
}

}  // namespace

MinimizeResult minimize(const std::function<double(const std::vector<double>&)>& f, const Space& space,
                        const MinimizeOptions& options) {
  check_function(f != nullptr, "minimize");
  const auto outcome = [&f](const std::vector<double>& x) { return Outcome::of_value(f(x)); };
  return minimize_outcome({outcome}, ResultKind::value, space, options);
}

MinimizeResult minimize(const std::function<double(const std::vector<double>&, int)>& f, const Space& space,
                        const MinimizeOptions& options) {
  check_function(f != nullptr, "minimize");
  const auto own = in_team([&f](const std::vector<double>& x, int team) { return Outcome::of_value(f(x, team)); });
  return minimize_outcome(own, ResultKind::value, space, options);
}

MinimizeResult least_squares(const std::function<std::vector<double>(const std::vector<double>&)>& residuals,
                             const Space& space, const MinimizeOptions& options) {
  check_function(residuals != nullptr, "least_squares");
  const auto outcome = [&residuals](const std::vector<double>& x) { return Outcome::of_residuals(residuals(x)); };
  return minimize_outcome({outcome}, ResultKind::residuals, space, options);
}

MinimizeResult least_squares(const std::function<std::vector<double>(const std::vector<double>&, int)>& residuals,
                             const Space& space, const MinimizeOptions& options) {
  check_function(residuals != nullptr, "least_squares");
  const auto own = in_team(
      [&residuals](const std::vector<double>& x, int team) { return Outcome::of_residuals(residuals(x, team)); });
  return minimize_outcome(own, ResultKind::residuals, space, options);
}

MinimizeResult minimize_several(const std::function<std::vector<double>(const std::vector<double>&)>& f,
                                std::size_t objectives, const Space& space, const MinimizeOptions& options) {
  check_function(f != nullptr, "minimize_several");
  if (objectives < 2)
    throw InputError(fmt::format("minimize_several: got {} objectives; it needs at least 2", objectives));
  if (options.target > -std::numeric_limits<double>::infinity() || options.stagnation != 0)
    throw InputError("minimize_several: target and stagnation are for one objective, not for several");
  const auto outcome = [&f, objectives](const std::vector<double>& x) {
    const auto values = f(x);
    if (values.size() != objectives)
      return Outcome::failure(Status::wrong_shape, fmt::format("the function returned {} values; it must return {}",
                                                               values.size(), objectives));
    auto o = Outcome::of_value(0);
    for (std::size_t k = 0; k < objectives; ++k) o.extras.emplace_back(fmt::format("value{}", k + 1), values[k]);
    return o;
  };
  return minimize_outcome({outcome}, ResultKind::figures, space, options, objectives);
}

}  // namespace culmen
