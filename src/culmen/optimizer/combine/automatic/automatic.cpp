// "auto": for real parameters quasi-Newton descents, then CMA-ES in parallel; for parameters of all kinds a model, then
// searches in parallel with it. If another optimizer suits, chosen_optimizer() names it and this one is not made.
#include "culmen/optimizer/combine/automatic/automatic.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "culmen/optimizer/combine/automatic/constrained.hpp"
#include "culmen/optimizer/combine/automatic/descents_first.hpp"
#include "culmen/optimizer/combine/automatic/model_first.hpp"
#include "culmen/optimizer/combine/automatic/portfolio.hpp"
#include "culmen/optimizer/combine/automatic/probe.hpp"
#include "culmen/optimizer/combine/automatic/reals_alone.hpp"
#include "culmen/optimizer/combine/combinators.hpp"

namespace culmen {
namespace automatic {
namespace {
constexpr double model_points = 100;                         // a model of them takes some milliseconds
constexpr double fewest_at_a_time = 4, most_at_a_time = 64;  // of the model's proposals; four are hardly worse than one
constexpr double sigma_about_best = 0.15;

/// When cmaes starts here, descents have found several minima or none. It then needs a larger population than alone.
double population(std::size_t parameters) {
  return 2 * (4 + std::floor(3 * std::log(static_cast<double>(parameters))));
}

/// The numbers of parallel candidates of the descents and of cmaes.
struct Widths {
  Widths(std::size_t parameters, std::size_t parallel)
      : descents(descents_beside(parameters, parallel)),
        global(parallel > 2 * descents * (parameters + 1) ? parallel - descents * (parameters + 1) : parallel) {}
  std::size_t descents, global;
};

std::unique_ptr<Optimizer> of_reals(const Space& space, std::uint64_t seed, std::size_t parallel, const Terms& terms) {
  const Widths widths(space.size(), parallel);
  const auto make = [=](const std::string& name, OptimizerOptions options) {
    if (name == "bfgs") options.emplace("descents", widths.descents);
    return Member{name, make_optimizer(name, space, seed, options, terms)};
  };
  auto probe = std::make_unique<Probe>(space, seed, terms.mode);
  auto effort = std::make_unique<DescentsFirst>(space.size(), *probe, make);
  std::vector<Member> members(DescentsFirst::members);
  members[DescentsFirst::probe] = {"probe", std::move(probe)};
  OptimizerOptions global{{"parallel", widths.global}};
  if (terms.mode == Mode::generational)
    global.emplace("population", population(space.size()));  // otherwise it depends on the workers
  members[DescentsFirst::global] = make("cmaes", global);
  members[DescentsFirst::descents] = make("bfgs", {});
  return std::make_unique<Portfolio>("auto", std::move(members), std::move(effort), parallel, terms.mode);
}

/// After the model's lead three or four members search in parallel, and none knows its share.
Terms terms_of_a_third(const Terms& all, std::size_t parameters) {
  Terms terms = all;
  const auto left = all.evaluations - std::min(all.evaluations, ModelFirst::lead(parameters));
  if (all.evaluations > 0) terms.evaluations = std::max<std::uint64_t>(1, left / 3);
  return terms;
}

/// In parallel with the model: cmaes from the best point for numbers, or walks if there are choices or conditions. If
/// there are enough reals, descents too.
std::vector<Member> searches(const Space& space, std::uint64_t seed, std::size_t parallel, const Terms& all,
                             const std::vector<double>& best) {
  const auto terms = terms_of_a_third(all, space.size());
  const bool numbers = !space.conditional() && std::ranges::none_of(space.parameters(), &Parameter::is_choice);
  const OptimizerOptions about_best{{"parallel", static_cast<double>(parallel)}, {"sigma", sigma_about_best}};
  std::vector<Member> members;
  members.push_back({"de", make_optimizer("de", space, seed, {}, terms)});
  if (const auto reals = std::ranges::count_if(space.parameters(), &Parameter::is_plain_real); reals > 1) {
    const auto lanes = descents_beside(static_cast<std::size_t>(reals), parallel);
    members.push_back({"descents", std::make_unique<RealsAlone>(space, seed, best, lanes, terms.mode, terms.edition)});
  }
  if (numbers)
    members.push_back({"cmaes", make_optimizer("cmaes", beginning_at(space, best), seed, about_best, terms)});
  else members.push_back({"annealing", make_optimizer("annealing", space, seed, {}, terms)});
  return members;
}

/// If not all parameters are real, or if some are conditional.
std::unique_ptr<Optimizer> of_all_kinds(const Space& space, std::uint64_t seed, std::size_t parallel, double points,
                                        const Terms& terms) {
  const auto join = [=](const std::vector<double>& best) { return searches(space, seed, parallel, terms, best); };
  const double batch = std::clamp(static_cast<double>(parallel), fewest_at_a_time, most_at_a_time);
  std::vector<Member> members;
  members.push_back({"bayes", make_optimizer("bayes", space, seed, {{"parallel", batch}, {"points", points}}, terms)});
  return std::make_unique<Portfolio>("auto", std::move(members), std::make_unique<ModelFirst>(space.size(), join),
                                     parallel, terms.mode);
}
}  // namespace
}  // namespace automatic

OptimizerKind auto_kind() {
  return {{.name = "auto",
           .about = "chooses for you: local searches and CMA-ES for real parameters, a model and searches for others; "
                    "the method that succeeds gets more evaluations",
           .one_objective = false,
           .asynchronous = true,
           .options = {OptionRule::whole("parallel",
                                         "number of candidates proposed at a time; set it to the number of workers", 1,
                                         1e4, 1),
                       OptionRule::whole("points",
                                         "number of evaluations that bayes keeps for its model; used only if some "
                                         "parameter is not real",
                                         10, 2000, automatic::model_points)},
           .edition = Edition::fourth},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options,
             const Terms& terms) -> std::unique_ptr<Optimizer> {
            const auto parallel = count_of(options, "parallel");
            const bool reals = std::ranges::all_of(space.parameters(), &Parameter::is_plain_real);
            const bool slopes = terms.yield.limits || (terms.yield.infeasible && !space.constraints().empty());
            if (reals && slopes) return automatic::constrained(space, seed, parallel, terms);
            if (reals) return automatic::of_reals(space, seed, parallel, terms);
            return automatic::of_all_kinds(space, seed, parallel, number_of(options, "points"), terms);
          }};
}

}  // namespace culmen
