// The optimizers that are multi-starts of a local search.
#include "culmen/optimizer/local/descents.hpp"
#include "culmen/optimizer/local/nlopt_search.hpp"

namespace culmen {
namespace {
local::ReadOptions plain(local::NloptMethod method) {
  return [method](const OptimizerOptions&) {
    return [method](const local::Start& start) { return local::nlopt_search(method, start); };
  };
}
}  // namespace

OptimizerKind slsqp_kind() {
  return local::descents_kind(
      {.name = "slsqp",
       .about = "sequential quadratic programming by differences from many starts, for smooth values",
       .options = {OptionRule::word("library", "x", {"slsqp", "lbfgs", "tnewton", "ccsa", "mma"}, "slsqp")}},
      0.1, [](const OptimizerOptions& o) {
        const std::string w = word_of(o, "library");
        const auto m = w == "slsqp"     ? local::NloptMethod::slsqp
                       : w == "lbfgs"   ? local::NloptMethod::lbfgs
                       : w == "tnewton" ? local::NloptMethod::tnewton
                       : w == "ccsa"    ? local::NloptMethod::ccsa
                                        : local::NloptMethod::mma;
        return plain(m)(o);
      });
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
