// "scan": from the centre, one parameter at a time through its range. Finishes by itself.
#include <algorithm>

#include "culmen/optimizer/kinds.hpp"
#include "culmen/optimizer/levels.hpp"

namespace culmen {
namespace {
class Scan final : public Optimizer {
 public:
  Scan(const Space& space, std::size_t points) : centre_(space.start()), levels_(levels_of(space, points)) {
    for (std::size_t i = 0; i < centre_.size(); ++i) std::erase(levels_[i], centre_[i]);
  }
  bool generational() const override { return true; }
  bool finished() const override { return parameter_ == centre_.size(); }
  std::string name() const override { return "scan"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (; n > 0 && !finished(); --n) {
      auto& x = out.emplace_back(Candidate{0, centre_}).x;
      if (!centre_served_) centre_served_ = true;
      else x[parameter_] = levels_[parameter_][level_++];
      while (!finished() && level_ == levels_[parameter_].size()) ++parameter_, level_ = 0;
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  std::vector<double> centre_;
  std::vector<std::vector<double>> levels_;  // without the centre's
  std::size_t parameter_ = 0, level_ = 0;
  bool centre_served_ = false;
};
}  // namespace

OptimizerKind scan_kind() {
  return {{.name = "scan",
           .about = "one parameter at a time through its range, the others at the centre; ends by itself",
           .one_objective = false,
           .seeded = false,
           .options = {OptionRule::whole("points", "values a number takes, its bounds included; choices take all theirs",
                                         2, 1e6, 21)}},
          [](const Space& space, std::uint64_t, const OptimizerOptions& options, const Yield&) {
            return std::make_unique<Scan>(space, count_of(options, "points"));
          }};
}

}  // namespace culmen
