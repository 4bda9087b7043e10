#include "culmen/optimizer/combine/automatic/descents_first.hpp"

#include <fmt/format.h>

#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t turns_before_probe = 3;         // of n + 1 evaluations: an easy function is solved by then
constexpr double bearable_noise = 1e-12, rough = 1e-3;  // finite differences tolerate the first, but not the second
constexpr double caution = 3;  // factor of the difference of two values: the true noise may be larger
constexpr std::uint64_t fair_chance_per_parameter = 20;  // evaluations that nearly solve a sum
}  // namespace

DescentsFirst::DescentsFirst(std::size_t n, const Probe& probe, Make make)
    : n_(n), probe_(probe), make_(std::move(make)), lead_(n) {}

std::size_t DescentsFirst::next(std::vector<Member>& members) {
  if (members[descents].asked < turns_before_probe * (n_ + 1)) return descents;
  if (probe_.wants()) return probe;
  if (!judged_ && probe_.done()) judge(members);
  if (sum_does_not_pay(members)) {
    leader_ = descents;
    lead_.change();
  }
  const bool now = lead_.lasts(members[leader_]) || lead_.due(members[leader_], members[global]);
  return now ? leader_ : global;
}

/// The function may not be a sum after all: an interaction was too small compared with the values seen.
bool DescentsFirst::sum_does_not_pay(const std::vector<Member>& members) const {
  const auto& leader = members[leader_];
  return judged_ && leader_ != descents && probe_.separable() && leader.settled >= fair_chance_per_parameter * n_ &&
         better(members[descents].best, leader.best);
}

void DescentsFirst::judge(std::vector<Member>& members) {
  judged_ = true;
  if (probe_.noise() > rough) {
    members.push_back(make_("nelder_mead", {}));
    lead_.change();
    lead_.shorten();
  } else if (probe_.noise() > bearable_noise) {
    members.push_back(make_("bfgs", {{"noise", caution * probe_.noise()}}));
    members.back().optimizer->hear(members[descents].best_x, members[descents].best);
    lead_.change();
  } else if (probe_.separable()) {
    members.push_back(make_("brent_step", {}));
    lead_.change();
  } else {
    return;
  }
  leader_ = members.size() - 1;
}

void DescentsFirst::learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
                          const Outcome& outcome) {
  lead_.observe(outcome);
  if (!judged_ && member == descents) members[probe].optimizer->hear(x, outcome);
  if (member == leader_) lead_.learn(members[leader_]);
  if (member == leader_ && outcome.violation > 0) lead_.shorten();
  if (member == global) lead_.hand_over(members[leader_], members[global]);
}

std::string DescentsFirst::remark(const std::vector<Member>& members) const {
  const auto more = members[leader_].optimizer->remark();
  const auto seen = leader_ == descents               ? ""
                    : probe_.noise() > bearable_noise ? "the values are noisy; "
                                                      : "the value seems to be a sum over the parameters; ";
  return fmt::format("{}{}{}{}", seen, found_and_counts(members), more.empty() ? "" : "; ", more);
}

}  // namespace culmen::automatic
