#include "culmen/optimizer/combine/automatic/lead.hpp"

#include <algorithm>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::uint64_t longest = 3;             // multiple of the lead
constexpr std::uint64_t turns_in_the_lead = 10;  // turns without an improvement; after them the lead ends
constexpr double share_of_leader = 0.15, share_while_it_holds_the_best = 0.4;
constexpr std::uint64_t turns_between_handings = 3;
}  // namespace

void Lead::change() {
  lead_ = usual * n_;
  counted_leader_ = asked_at_handing_ = improved_ = 0;  // of the previous leader, whose share may have begun
  best_ = handed_ = Outcome::failure(Status::failed, {});
  beaten_ = false;
}

bool Lead::lasts(const Member& leader) const {
  const auto wanted = 2 * static_cast<double>(turn_);
  if (static_cast<double>(workers_) * (1 + durations_.spread(turn_)) >= wanted) return false;
  return leader.asked < lead_ ||
         (leader.asked < longest * lead_ && leader.asked < improved_ + turns_in_the_lead * turn_);
}

bool Lead::due(const Member& leader, const Member& global) {
  const bool by_itself = !beaten_ || improved_ > asked_at_handing_ + turns_in_the_lead * turn_;
  const bool holds = better(leader.best, global.best) && by_itself;
  const double share = holds ? share_while_it_holds_the_best : share_of_leader;
  owed_ += share / (1 - share) * static_cast<double>(global.asked - std::exchange(counted_global_, global.asked));
  if (counted_leader_ > 0) owed_ -= static_cast<double>(leader.asked - counted_leader_);
  counted_leader_ = leader.asked;
  return owed_ > 0;
}

void Lead::learn(const Member& leader) {
  if (!better(leader.best, best_)) return;
  best_ = leader.best;
  improved_ = leader.asked;
}

void Lead::hand_over(Member& leader, const Member& global) {
  if (!better(global.best, handed_) || leader.asked < asked_at_handing_ + turns_between_handings * turn_) return;
  beaten_ = beaten_ || better(global.best, leader.best);
  handed_ = global.best;
  asked_at_handing_ = leader.asked;
  leader.optimizer->hear(global.best_x, global.best);
}

std::size_t descents_beside(std::size_t n, std::size_t parallel) {
  return std::max<std::size_t>(1, parallel / (4 * (n + 1)));
}

}  // namespace culmen::automatic
