// The optimizers that are multi-starts of a local search.
#include "culmen/optimizer/local/descents.hpp"
#include "culmen/optimizer/local/gradient_search.hpp"
#include "culmen/optimizer/local/nlopt_search.hpp"

namespace culmen {
namespace {
local::ReadOptions plain(local::NloptMethod method) {
  return [method](const OptimizerOptions&) {
    return [method](const local::Start& start) {
      // BOBYQA's models need two parameters.
      const bool one = method == local::NloptMethod::bobyqa && start.x.size() == 1;
      return local::nlopt_search(one ? local::NloptMethod::nelder_mead : method, start);
    };
  };
}
}  // namespace

OptimizerKind slsqp_kind() {
  return local::descents_kind(
      {.name = "slsqp", .about = "sequential quadratic programming by differences from many starts, for smooth values"},
      0.1, plain(local::NloptMethod::slsqp));
}
OptimizerKind bobyqa_kind() {
  return local::descents_kind({.name = "bobyqa", .about = "quadratic models without derivatives from many starts"}, 0.1,
                              plain(local::NloptMethod::bobyqa));
}
OptimizerKind nelder_mead_kind() {
  return local::descents_kind(
      {.name = "nelder_mead",
       .about = "the downhill simplex from many starts, for few parameters",
       .options = {OptionRule::word("subspaces", "x", {"no", "yes"}, "no")}},
      0.1, [](const OptimizerOptions& o) {
        return plain(word_of(o, "subspaces") == "no" ? local::NloptMethod::nelder_mead : local::NloptMethod::sbplx)(o);
      });
}

}  // namespace culmen
namespace culmen {
namespace {
local::ReadOptions by_gradients(local::GradientMethod method) {
  return [method](const OptimizerOptions& options) {
    return [method, fan = static_cast<int>(count_of(options, "fan"))](const local::Start& start) {
      return local::gradient_search(method, start, fan);
    };
  };
}

std::vector<OptionRule> fan_of(double standard) {
  return {OptionRule::whole("fan", "steps of a line search that are tried at once; more are quicker where workers idle",
                            1, 100, standard)};
}
}  // namespace

OptimizerKind bfgs_kind() {
  return local::descents_kind(
      {.name = "bfgs",
       .about = "quasi-Newton descents by parallel differences from many starts, for smooth values",
       .options = fan_of(1)},
      0.1, by_gradients(local::GradientMethod::bfgs));
}
OptimizerKind conjugate_gradient_kind() {
  return local::descents_kind({.name = "conjugate_gradient",
                               .about = "conjugate gradients by parallel differences from many starts",
                               .options = fan_of(4)},
                              0.1, by_gradients(local::GradientMethod::conjugate));
}
OptimizerKind gradient_kind() {
  return local::descents_kind(
      {.name = "gradient", .about = "steepest descents by parallel differences from many starts", .options = fan_of(4)},
      0.1, by_gradients(local::GradientMethod::steepest));
}
}  // namespace culmen
