// "scan": varies one parameter at a time over its range, from the start (initial values; the middle for the others).
// Leaves out parameters that are inactive there. Finishes by itself.
#include <algorithm>
#include <utility>

#include "culmen/optimizer/methods/sampling/kinds.hpp"
#include "culmen/optimizer/parts/levels.hpp"

namespace culmen {
namespace {
class Scan final : public Optimizer {
 public:
  Scan(const Space& space, std::size_t points, Mode mode)
      : space_(space), centre_(space.start()), levels_(levels_of(space, points)), mode_(mode) {
    space.rest_inactive(centre_);
    const auto active = space.activity(centre_);
    for (std::size_t i = 0; i < centre_.size(); ++i) {
      if (active[i]) std::erase(levels_[i], centre_[i]);
      else levels_[i].clear();
    }
    while (parameter_ < centre_.size() && levels_[parameter_].empty()) ++parameter_;
  }
  Mode mode() const override { return mode_; }
  bool ends_by_itself() const override { return true; }
  bool begins_at_start() const override { return true; }
  bool finished() const override { return centre_served_ && parameter_ == centre_.size(); }
  std::string name() const override { return "scan"; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (; n > 0 && !finished(); --n) {
      auto& x = out.emplace_back(Candidate{0, centre_}).x;
      if (!std::exchange(centre_served_, true)) continue;
      x[parameter_] = levels_[parameter_][level_++];
      space_.rest_inactive(x);
      while (parameter_ < centre_.size() && level_ == levels_[parameter_].size()) ++parameter_, level_ = 0;
    }
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}

  const Space space_;
  std::vector<double> centre_;
  std::vector<std::vector<double>> levels_;  // without the centre's
  std::size_t parameter_ = 0, level_ = 0;
  bool centre_served_ = false;
  const Mode mode_;
};
}  // namespace

OptimizerKind scan_kind() {
  return {{.name = "scan",
           .about = "varies one parameter at a time and keeps the others at the starting point; ends by itself",
           .needs_bounds = true,
           .one_objective = false,
           .seeded = false,
           .asynchronous = true,
           .options = {OptionRule::whole(
               "points", "number of values of each real or integer parameter, including both bounds", 2, 1e6, 21)}},
          [](const Space& space, std::uint64_t, const OptimizerOptions& options, const Terms& terms) {
            return std::make_unique<Scan>(space, count_of(options, "points"), terms.mode);
          }};
}

}  // namespace culmen
