#include "culmen/optimizer/automatic/descents_first.hpp"

#include <fmt/format.h>

#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t turns_before_probe = 3;  // of n + 1 evaluations: an easy function is solved by then
constexpr std::uint64_t lead_per_parameter = 100, noisy_lead_per_parameter = 30, longest_lead = 3;
constexpr std::uint64_t patience = 10;  // turns without an improvement that end a lead
constexpr double share_of_leader = 0.15, share_while_it_holds_the_best = 0.4;
constexpr std::uint64_t turns_between_handings = 3;
}  // namespace

DescentsFirst::DescentsFirst(std::size_t n, const Probe& probe, Make make)
    : n_(n), probe_(probe), make_(std::move(make)), lead_(lead_per_parameter * n_) {}

std::size_t DescentsFirst::next(std::vector<Member>& members) {
  if (members[descents].asked < turns_before_probe * (n_ + 1)) return descents;
  if (!members[probe].optimizer->finished()) return probe;
  if (!judged_ && probe_.done()) judge(members);
  return leads(members[leader_]) ? leader_ : by_share(members);
}

void DescentsFirst::judge(std::vector<Member>& members) {
  judged_ = true;
  if (probe_.noise() > 0) {
    members.push_back(make_("nelder_mead", {}));
    lead_ = noisy_lead_per_parameter * n_;
  } else if (probe_.separable()) {
    members.push_back(make_("brent_step", {}));
  } else {
    return;
  }
  leader_ = members.size() - 1;
  counted_leader_ = asked_at_handing_ = 0;  // of descents, where their share has begun before the probe was back
  best_of_leader_ = Outcome::failure(Status::failed, {});
  improved_ = 0;
  if (workers_ > 0) members.back().optimizer->resize(workers_);
}

/// Where there are more workers than a descent can use, the global search begins at once.
bool DescentsFirst::leads(const Member& leader) const {
  if (workers_ >= 2 * (n_ + 1)) return false;
  return leader.asked < lead_ ||
         (leader.asked < longest_lead * lead_ && leader.asked < improved_ + patience * (n_ + 1));
}

std::size_t DescentsFirst::by_share(const std::vector<Member>& members) {
  const auto &l = members[leader_], &g = members[global];
  const bool by_itself = !beaten_ || improved_ > asked_at_handing_ + patience * (n_ + 1);
  const double share = better(l.best, g.best) && by_itself ? share_while_it_holds_the_best : share_of_leader;
  owed_ += share / (1 - share) * static_cast<double>(g.asked - std::exchange(counted_global_, g.asked));
  if (counted_leader_ > 0) owed_ -= static_cast<double>(l.asked - counted_leader_);
  counted_leader_ = l.asked;
  return owed_ > 0 ? leader_ : global;
}

void DescentsFirst::learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
                          const Outcome& outcome) {
  if (!judged_ && member == descents) members[probe].optimizer->hear(x, outcome);
  const auto& leader = members[leader_];
  if (member == leader_ && better(leader.best, best_of_leader_)) {
    best_of_leader_ = leader.best;
    improved_ = leader.asked;
  }
  if (member == global) hand_over(members);
}

void DescentsFirst::hand_over(std::vector<Member>& members) {
  auto& leader = members[leader_];
  const auto& from = members[global];
  if (!better(from.best, handed_) || leader.asked < asked_at_handing_ + turns_between_handings * (n_ + 1)) return;
  beaten_ = beaten_ || better(from.best, leader.best);
  handed_ = from.best;
  asked_at_handing_ = leader.asked;
  leader.optimizer->hear(from.best_x, from.best);
}

std::string DescentsFirst::remark(const std::vector<Member>& members) const {
  const auto &l = members[leader_], &g = members[global];
  const auto more = l.optimizer->remark();
  const auto seen = leader_ == descents ? "" : probe_.noise() > 0 ? "values have noise; " : "a sum over parameters; ";
  return fmt::format("{}the best is of {}; {} had {} evaluations, {} {}{}{}", seen,
                     better(g.best, l.best) ? g.name : l.name, l.name, l.settled, g.name, g.settled,
                     more.empty() ? "" : "; ", more);
}

}  // namespace culmen::automatic
