#include "culmen/optimizer/automatic/model_first.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr double share_of_holder = 0.5;
}  // namespace

ModelFirst::ModelFirst(std::size_t n, Join join) : lead_(lead(n)), join_(std::move(join)) {}

std::size_t ModelFirst::next(std::vector<Member>& members) {
  spread(members);
  if (members[model].asked < lead_ || best_x_.empty()) return model;
  if (members.size() == 1) {
    for (auto& m : join_(best_x_)) {
      m.optimizer->hear(best_x_, best_);
      members.push_back(std::move(m));
    }
    spent_.assign(members.size(), 0);
    counted_.assign(members.size(), 0);
    counted_[model] = members[model].asked;
  }
  const double others = (1 - share_of_holder) / static_cast<double>(members.size() - 1);
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto since = static_cast<double>(members[k].asked - std::exchange(counted_[k], members[k].asked));
    spent_[k] += since / (k == holder_ ? share_of_holder : others);
  }
  return static_cast<std::size_t>(std::ranges::min_element(spent_) - spent_.begin());
}

void ModelFirst::learn(std::vector<Member>& /*members*/, std::size_t member, const std::vector<double>& x,
                       const Outcome& outcome) {
  if (better(outcome, news_ ? news_->outcome : best_)) news_ = {member, outcome, x};
}

void ModelFirst::spread(std::vector<Member>& members) {
  if (!news_) return;
  holder_ = news_->member;
  best_ = std::move(news_->outcome);
  best_x_ = std::move(news_->x);
  news_.reset();
  for (std::size_t k = 0; k < members.size(); ++k)
    if (k != holder_) members[k].optimizer->hear(best_x_, best_);
}

std::string ModelFirst::remark(const std::vector<Member>& members) const {
  std::string counts;
  for (const auto& m : members) counts += fmt::format("{}{} had {}", counts.empty() ? "" : ", ", m.name, m.settled);
  return fmt::format("the best is of {}; {} evaluations", members[holder_].name, counts);
}

}  // namespace culmen::automatic
