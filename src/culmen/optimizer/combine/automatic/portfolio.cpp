#include "culmen/optimizer/combine/automatic/portfolio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::size_t largest_turn = 4096;  // limits a member that could give candidates for ever

/// False for a candidate that violates a constraint, and that only the optimizer saw.
bool was_evaluated(const Outcome& outcome) {
  return !(outcome.ok() && outcome.violation > 0 && std::isnan(outcome.value));
}
}  // namespace

std::string found_and_counts(const std::vector<Member>& members) {
  std::vector<std::pair<std::string_view, std::uint64_t>> counts;
  const auto* finder = &members.front();
  for (const auto& m : members) {
    if (better(m.best, finder->best)) finder = &m;
    const auto known = std::ranges::find(counts, m.name, &std::pair<std::string_view, std::uint64_t>::first);
    if (known != counts.end()) known->second += m.told;
    else counts.emplace_back(m.name, m.told);
  }
  std::string out;
  for (const auto& [name, told] : counts)
    if (told > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, told);
  if (out.empty()) return "no evaluation has ended yet";
  const auto found = finder->best.ok() ? finder->name + " found the best value; " : "";
  return fmt::format("{}evaluations: {}", found, out);
}

Portfolio::Portfolio(std::string name, std::vector<Member> members, std::unique_ptr<Effort> effort,
                     std::size_t parallel, Mode mode)
    : name_(std::move(name)),
      members_(std::move(members)),
      effort_(std::move(effort)),
      parallel_(parallel),
      mode_(mode) {
  welcome();
}

void Portfolio::welcome() {
  while (welcomed_ < members_.size()) {
    auto& newcomer = *members_[welcomed_++].optimizer;
    jobs_.add(newcomer);
    if (workers_ > 0) newcomer.resize(workers_);
  }
}

void Portfolio::resize(std::size_t workers) {
  if (generational()) return;
  workers_ = workers;
  effort_->resize(workers);
  for (auto& m : members_) m.optimizer->resize(workers);
}

std::optional<Recommendation> Portfolio::recommendation() const {
  for (const auto& m : members_) {
    if (auto recommended = m.optimizer->recommendation()) return recommended;
  }
  return std::nullopt;
}

void Portfolio::hear(const std::vector<double>& x, const Outcome& outcome) {
  for (auto& m : members_) m.optimizer->hear(x, outcome);
}

void Portfolio::do_ask(std::size_t n, Asked& out) {
  for (; n > 0; --n) {
    if (generational() && all_back() && !jobs_.is_out()) begin_turn();
    if (turn_.empty() && !generational()) fill(next(), 1);
    if (turn_.empty()) return;
    auto x = turn_.front().x;
    out.give(std::move(x), std::move(turn_.front()));
    turn_.pop_front();
  }
}

std::size_t Portfolio::next() {
  const auto member = effort_->next(members_);
  welcome();
  return member;
}

void Portfolio::begin_turn() {
  const auto first = next();
  std::size_t size = fill(first, largest_turn);
  for (std::size_t k = 0; k < members_.size() && size < parallel_; ++k) {
    if (k != first) size += fill(k, largest_turn);
  }
}

std::size_t Portfolio::fill(std::size_t member, std::size_t n) {
  asked_.clear();
  auto& m = members_[member];
  m.optimizer->ask(n, asked_);
  m.asked += asked_.size();
  for (auto& c : asked_) turn_.push_back({member, c.id, std::move(c.x)});
  return asked_.size();
}

void Portfolio::do_tell(EvaluationId id, MemberCandidate&& candidate, const Outcome& outcome) {
  auto& member = members_[candidate.member];
  ++member.settled;
  if (was_evaluated(outcome)) ++member.told;
  member.optimizer->tell(candidate.inner, outcome);
  if (!generational()) return learn(candidate, outcome);
  told_.emplace(id, std::pair(std::move(candidate), outcome));
  if (all_back()) end_turn();
}

/// In the order of candidates, so that the order of tells does not matter.
void Portfolio::end_turn() {
  for (const auto& [id, told] : told_) learn(told.first, told.second);
  told_.clear();
}

void Portfolio::learn(const MemberCandidate& candidate, const Outcome& outcome) {
  auto& m = members_[candidate.member];
  if (better(outcome, m.best)) {
    m.best = outcome;
    m.best_x = candidate.x;
  }
  effort_->learn(members_, candidate.member, candidate.x, outcome);
}

void Portfolio::do_cancel(EvaluationId, MemberCandidate&& candidate) {
  auto& member = members_[candidate.member];
  ++member.settled;
  member.optimizer->cancel(candidate.inner);
  if (generational() && all_back()) end_turn();
}

}  // namespace culmen::automatic
