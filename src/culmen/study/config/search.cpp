#include "culmen/study/config/search.hpp"

#include <algorithm>

#include "culmen/optimizer/combine/combinators.hpp"

namespace culmen {
namespace {
Terms terms_of(const StudyConfig& c, std::uint64_t evaluations) {
  return {yield_of(c), evaluations, mode_of(c), c.edition};
}

std::unique_ptr<Optimizer> optimizer_of(const StudyConfig& c) {
  return make_optimizer(c.optimizer, c.space, c.seed, c.optimizer_options, terms_of(c, c.plan()));
}
}  // namespace

std::unique_ptr<Optimizer> make_search(const StudyConfig& c, std::uint64_t evaluations) {
  return make_search({.optimizer = c.optimizer,
                      .options = c.optimizer_options,
                      .seed = c.seed,
                      .starts = c.starts,
                      .evaluate_infeasible = c.evaluate_infeasible,
                      .terms = terms_of(c, evaluations)},
                     c.space);
}

bool returns_residuals(const StudyConfig& c) {
  return c.evaluator.result == ResultKind::residuals || !c.goals.residuals.empty();
}

Yield yield_of(const StudyConfig& c) {
  return {returns_residuals(c), std::max<std::size_t>(1, c.goals.objectives.size()), c.goals.limited(),
          std::make_shared<Goals>(c.goals), c.evaluate_infeasible};
}

void choose_optimizer(StudyConfig& c) {
  const auto yield = yield_of(c);
  const auto chosen = c.optimizer.empty() ? default_optimizer(c.space, yield)
                                          : chosen_optimizer(c.optimizer, c.optimizer_options, c.space, yield);
  if (c.optimizer.empty() || c.optimizer == "auto") {
    c.optimizer_is_chosen = true;
    c.optimizer_why = chosen.why;
  }
  c.optimizer = chosen.name;
}

bool begins_at_start(const StudyConfig& c) { return optimizer_of(c)->begins_at_start(); }
bool can_converge(const StudyConfig& c) { return optimizer_of(c)->can_converge(); }
void check_optimizer(const StudyConfig& c) { optimizer_of(c); }

}  // namespace culmen
