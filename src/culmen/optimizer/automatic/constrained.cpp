#include "culmen/optimizer/automatic/constrained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t lead_per_parameter = 100, longest_lead = 3;
constexpr std::uint64_t patience = 10;  // turns without an improvement that end the lead
constexpr double share_of_descents = 0.15, share_while_they_hold_the_best = 0.4;
constexpr std::uint64_t turns_between_handings = 3;
}  // namespace

std::size_t ConstrainedDescentsFirst::next(std::vector<Member>& members) {
  const auto &d = members[descents], &g = members[global];
  if (leads(d)) return descents;
  const double share = better(d.best, g.best) ? share_while_they_hold_the_best : share_of_descents;
  owed_ += share / (1 - share) * static_cast<double>(g.asked - std::exchange(counted_global_, g.asked));
  if (counted_descents_ > 0) owed_ -= static_cast<double>(d.asked - counted_descents_);
  counted_descents_ = d.asked;
  return owed_ > 0 ? descents : global;
}

bool ConstrainedDescentsFirst::leads(const Member& leader) const {
  const auto lead = lead_per_parameter * n_;
  return leader.asked < lead || (leader.asked < longest_lead * lead && leader.asked < improved_ + patience * (n_ + 1));
}

void ConstrainedDescentsFirst::learn(std::vector<Member>& members, std::size_t member, const std::vector<double>&,
                                     const Outcome&) {
  auto& leader = members[descents];
  if (member == descents) {
    if (!better(leader.best, best_of_descents_)) return;
    best_of_descents_ = leader.best;
    improved_ = leader.asked;
    return;
  }
  const auto& from = members[global];
  const bool due = leader.asked >= asked_at_handing_ + turns_between_handings * (n_ + 1);
  if (!due || !better(from.best, handed_)) return;
  handed_ = from.best;
  asked_at_handing_ = leader.asked;
  leader.optimizer->hear(from.best_x, from.best);
}

std::string ConstrainedDescentsFirst::remark(const std::vector<Member>& members) const {
  const auto &d = members[descents], &g = members[global];
  return fmt::format("the best is of {}; {} had {} evaluations, {} {}", better(g.best, d.best) ? g.name : d.name,
                     d.name, d.settled, g.name, g.settled);
}

std::unique_ptr<Optimizer> constrained(const Space& space, std::uint64_t seed, std::size_t parallel,
                                       const Terms& terms) {
  const auto make = [&](const std::string& name, const OptimizerOptions& options) {
    return Member{name, make_optimizer(name, space, seed, options, terms)};
  };
  const std::size_t wide = std::max<std::size_t>(1, parallel / (4 * (space.size() + 1)));
  std::vector<Member> members(ConstrainedDescentsFirst::members);
  members[ConstrainedDescentsFirst::descents] = make("slsqp", {{"descents", wide}});
  members[ConstrainedDescentsFirst::global] = make("cmaes", {{"parallel", parallel}});
  return std::make_unique<Portfolio>("auto", std::move(members),
                                     std::make_unique<ConstrainedDescentsFirst>(space.size()), parallel,
                                     terms.generational);
}

}  // namespace culmen::automatic
