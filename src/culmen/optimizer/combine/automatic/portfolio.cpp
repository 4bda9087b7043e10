#include "culmen/optimizer/combine/automatic/portfolio.hpp"

#include <algorithm>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr std::size_t largest_turn = 4096;  // of a member that could give candidates for ever
}

Portfolio::Portfolio(std::string name, std::vector<Member> members, std::unique_ptr<Effort> effort,
                     std::size_t parallel, bool generational)
    : name_(std::move(name)),
      members_(std::move(members)),
      effort_(std::move(effort)),
      parallel_(parallel),
      generational_(generational) {
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
  if (generational_) return;
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

void Portfolio::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (; n > 0; --n) {
    if (served_ == next_ && generational_ && open_.empty() && !jobs_.is_out()) begin_turn();
    if (served_ == next_ && !generational_) fill(next(), 1);
    if (served_ == next_) return;
    out.push_back({0, open_.at(served_++).x});
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
  for (auto& c : asked_) open_.emplace(next_++, Given{member, c.id, std::move(c.x)});
  return asked_.size();
}

Portfolio::Given Portfolio::close(EvaluationId id) {
  auto given = std::move(open_.extract(id).mapped());
  ++members_[given.member].settled;
  return given;
}

void Portfolio::do_tell(EvaluationId id, const Outcome& outcome) {
  auto given = close(id);
  members_[given.member].optimizer->tell(given.inner, outcome);
  if (!generational_) return learn(given, outcome);
  told_.emplace(id, std::pair(std::move(given), outcome));
  if (open_.empty()) end_turn();
}

/// In the order of candidates, so that that of tells does not matter.
void Portfolio::end_turn() {
  for (const auto& [id, told] : told_) learn(told.first, told.second);
  told_.clear();
}

void Portfolio::learn(const Given& given, const Outcome& outcome) {
  auto& m = members_[given.member];
  if (better(outcome, m.best)) {
    m.best = outcome;
    m.best_x = given.x;
  }
  effort_->learn(members_, given.member, given.x, outcome);
}

void Portfolio::do_cancel(EvaluationId id) {
  const auto given = close(id);
  members_[given.member].optimizer->cancel(given.inner);
  if (generational_ && open_.empty()) end_turn();
}

}  // namespace culmen::automatic
