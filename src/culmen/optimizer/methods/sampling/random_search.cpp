// "random": independent points, uniform in the unit cube (so log-uniform in log parameters).
#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/sampling/kinds.hpp"

namespace culmen {
namespace {
class RandomSearch final : public Optimizer {
 public:
  RandomSearch(const Space& space, std::uint64_t seed, Mode mode) : space_(space), random_(seed), mode_(mode) {}
  Mode mode() const override { return mode_; }
  std::string name() const override { return "random"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (std::size_t k = 0; k < n; ++k) {
      auto& x = out.emplace_back().x;
      x.resize(space_.size());
      for (double& u : x) u = random_.uniform();
      space_.from_unit(x, x);
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  const Space space_;
  Random random_;
  const Mode mode_;
};
}  // namespace

OptimizerKind random_kind() {
  return {{.name = "random", .about = "independent random points", .one_objective = false, .asynchronous = true},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions&, const Terms& terms) {
            return std::make_unique<RandomSearch>(space, seed, terms.mode);
          }};
}

}  // namespace culmen
