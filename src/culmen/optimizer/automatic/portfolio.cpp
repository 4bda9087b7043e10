#include "culmen/optimizer/automatic/portfolio.hpp"

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
  for (auto& m : members_) jobs_.emplace_back(*m.optimizer);
}

void Portfolio::resize(std::size_t workers) {
  effort_->resize(workers);
  for (auto& m : members_) m.optimizer->resize(workers);
}

void Portfolio::hear(const std::vector<double>& x, const Outcome& outcome) {
  for (auto& m : members_) m.optimizer->hear(x, outcome);
}

std::function<Bytes()> Portfolio::do_job() {
  for (std::size_t k = 0; k < jobs_.size(); ++k) {
    if (auto work = jobs_[k].next(*members_[k].optimizer)) {
      at_work_ = k;
      return work;
    }
  }
  return {};
}

void Portfolio::do_adopt(const Bytes& result) { jobs_[at_work_].adopt(*members_[at_work_].optimizer, result); }

void Portfolio::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (; n > 0; --n) {
    if (served_ == next_ && generational_ && open_.empty()) begin_turn();
    if (served_ == next_ && !generational_) fill(effort_->next(members_), 1);
    if (served_ == next_) return;
    out.push_back({0, open_.at(served_++).x});
  }
}

void Portfolio::begin_turn() {
  const auto first = effort_->next(members_);
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
  const auto given = close(id);
  auto& m = members_[given.member];
  if (better(outcome, m.best)) {
    m.best = outcome;
    m.best_x = given.x;
  }
  m.optimizer->tell(given.inner, outcome);
  effort_->learn(members_, given.member, given.x, outcome);
}

void Portfolio::do_cancel(EvaluationId id) {
  const auto given = close(id);
  members_[given.member].optimizer->cancel(given.inner);
}

}  // namespace culmen::automatic
