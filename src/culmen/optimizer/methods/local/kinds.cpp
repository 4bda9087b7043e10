// The optimizers that are multi-starts of a local search.
#include "culmen/optimizer/methods/local/kinds.hpp"

#include "culmen/optimizer/methods/local/axis_search.hpp"
#include "culmen/optimizer/methods/local/descents.hpp"
#include "culmen/optimizer/methods/local/gradient_search.hpp"
#include "culmen/optimizer/methods/local/nlopt_search.hpp"

namespace culmen {
namespace {
using local::descents_kind;
using local::GradientMethod;
using local::NloptMethod;
using local::ReadOptions;

constexpr double usual_step = 0.1;

ReadOptions by_nlopt(NloptMethod method) {
  return [method](const OptimizerOptions&) {
    return [method](const local::Start& start) {
      // BOBYQA's models need two parameters.
      const bool one = method == NloptMethod::bobyqa && start.x.size() == 1;
      return local::nlopt_search(one ? NloptMethod::nelder_mead : method, start);
    };
  };
}

ReadOptions by_gradients(GradientMethod method) {
  return [method](const OptimizerOptions& options) {
    return [method, fan = static_cast<int>(count_of(options, "fan"))](const local::Start& start) {
      return local::gradient_search(method, start, fan);
    };
  };
}

std::vector<OptionRule> fan_of(double standard) {
  return {OptionRule::whole(
      "fan", "number of step lengths that a search tries in parallel; larger values keep more workers busy", 1, 100,
      standard)};
}

ReadOptions by_simplex() {
  return [](const OptimizerOptions& options) {
    return by_nlopt(word_of(options, "simplex") == "whole" ? NloptMethod::nelder_mead : NloptMethod::sbplx)(options);
  };
}
}  // namespace

OptimizerKind bfgs_kind() {
  return descents_kind(
      {.name = "bfgs",
       .about = "quasi-Newton local searches (BFGS) from many starts, with parallel differences: smooth functions",
       .options = fan_of(1),
       .edition = Edition::fourth},
      usual_step, by_gradients(GradientMethod::bfgs));
}

OptimizerKind bobyqa_kind() {
  return descents_kind(
      {.name = "bobyqa",
       .about = "NLopt's BOBYQA from many starts: quadratic models of the function, without derivatives"},
      usual_step, by_nlopt(NloptMethod::bobyqa));
}

OptimizerKind brent_step_kind() {
  return descents_kind({.name = "brent_step",
                        .about = "a global search along each parameter: sums of one-parameter functions",
                        .edition = Edition::third},
                       usual_step, [](const OptimizerOptions&) {
                         return [](const local::Start& start) { return local::axis_search(start); };
                       });
}

OptimizerKind conjugate_gradient_kind() {
  return descents_kind({.name = "conjugate_gradient",
                        .about = "conjugate gradients from many starts, with parallel differences: smooth functions",
                        .options = fan_of(4)},
                       usual_step, by_gradients(GradientMethod::conjugate));
}

OptimizerKind gradient_kind() {
  return descents_kind({.name = "gradient",
                        .about = "steepest descent from many starts, with parallel differences: smooth functions",
                        .options = fan_of(4)},
                       usual_step, by_gradients(GradientMethod::steepest));
}

OptimizerKind nelder_mead_kind() {
  return descents_kind({.name = "nelder_mead",
                        .about = "the downhill simplex from many starts: functions that are not smooth",
                        .options = {OptionRule::word("simplex",
                                                     "whole: the search varies all parameters together; subspaces: it "
                                                     "varies one group of parameters after the other",
                                                     {"whole", "subspaces"}, "subspaces")}},
                       usual_step, by_simplex());
}

OptimizerKind slsqp_kind() {
  return descents_kind(
      {.name = "slsqp",
       .about =
           "NLopt's sequential quadratic programming from many starts, with parallel differences: smooth functions"},
      usual_step, by_nlopt(NloptMethod::slsqp));
}

}  // namespace culmen
