// "sobol": see sobol_sequence.hpp. At most 3667 parameters.
#include "culmen/optimizer/parts/sobol_sequence.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/methods/sampling/kinds.hpp"

namespace culmen {
namespace {
class Sobol final : public Optimizer {
 public:
  Sobol(const Space& space, std::uint64_t seed, Mode mode)
      : space_(space), sequence_(space.size(), seed), mode_(mode) {}
  Mode mode() const override { return mode_; }
  std::string name() const override { return "sobol"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (std::size_t k = 0; k < n; ++k) {
      auto& x = out.emplace_back().x;
      x.resize(space_.size());
      sequence_.next(x);
      space_.from_unit(x, x);
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  const Space space_;
  SobolSequence sequence_;
  const Mode mode_;
};
}  // namespace

OptimizerKind sobol_kind() {
  return {{.name = "sobol",
           .about = "points that cover the box evenly",
           .needs_bounds = true,
           .one_objective = false,
           .asynchronous = true},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions&, const Terms& terms) {
            if (space.size() > SobolSequence::most_dimensions) {
              throw InputError(fmt::format(
                  "optimizer 'sobol' takes at most {} parameters, the space has {}; use 'random' or 'cmaes'",
                  SobolSequence::most_dimensions, space.size()));
            }
            return std::make_unique<Sobol>(space, seed, terms.mode);
          }};
}

}  // namespace culmen
