// "auto": for real parameters quasi-Newton descents, then CMA-ES beside them; for the rest what default_optimizer says.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "culmen/optimizer/automatic/descents_first.hpp"
#include "culmen/optimizer/automatic/portfolio.hpp"
#include "culmen/optimizer/automatic/probe.hpp"
#include "culmen/optimizer/kinds.hpp"

namespace culmen {
namespace automatic {
namespace {
/// Where cmaes begins, descents have found more than one minimum, or none: it needs a larger population than alone.
double population(std::size_t parameters) {
  return 2 * (4 + std::floor(3 * std::log(static_cast<double>(parameters))));
}

/// A quarter of the candidates at a time for descents, whose gradients take n + 1 each, the others for cmaes.
struct Widths {
  Widths(std::size_t parameters, std::size_t parallel)
      : descents(std::max<std::size_t>(1, parallel / (4 * (parameters + 1)))),
        global(parallel > 2 * descents * (parameters + 1) ? parallel - descents * (parameters + 1) : parallel) {}
  std::size_t descents, global;
};

std::unique_ptr<Optimizer> of_reals(const Space& space, std::uint64_t seed, std::size_t parallel, const Terms& terms) {
  const auto make = [space, seed, terms](const std::string& name, const OptimizerOptions& options) {
    return Member{name, make_optimizer(name, space, seed, options, terms)};
  };
  auto probe = std::make_unique<Probe>(space, seed, terms.generational);
  auto effort = std::make_unique<DescentsFirst>(space.size(), *probe, make);
  std::vector<Member> members(DescentsFirst::members);
  members[DescentsFirst::probe] = {"probe", std::move(probe)};
  const Widths widths(space.size(), parallel);
  OptimizerOptions global{{"parallel", widths.global}};
  if (terms.generational) global.emplace("population", population(space.size()));  // else the workers decide
  members[DescentsFirst::global] = make("cmaes", global);
  members[DescentsFirst::descents] = make("bfgs", {{"descents", widths.descents}});
  return std::make_unique<Portfolio>("auto", std::move(members), std::move(effort), parallel, terms.generational);
}
}  // namespace
}  // namespace automatic

OptimizerKind auto_kind() {
  return {{.name = "auto",
           .about = "what suits: for real parameters descents and CMA-ES beside each other, with more effort for what "
                    "works",
           .one_objective = false,
           .asynchronous = true,
           .options = {OptionRule::whole("parallel", "candidates that are wanted at a time", 1, 1e4, 1)}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options,
             const Terms& terms) -> std::unique_ptr<Optimizer> {
            const auto chosen = default_optimizer(space, terms.yield);
            if (chosen.name != "auto") return make_optimizer(chosen.name, space, seed, {}, terms);
            return automatic::of_reals(space, seed, count_of(options, "parallel"), terms);
          }};
}

}  // namespace culmen
