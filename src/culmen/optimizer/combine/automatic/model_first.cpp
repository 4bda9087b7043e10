#include "culmen/optimizer/combine/automatic/model_first.hpp"

#include <algorithm>
#include <utility>

namespace culmen::automatic {
namespace {
constexpr double share_of_holder = 0.5;
constexpr std::uint64_t late_per_parameter = 100;  // evaluations after which a model adds little
constexpr double late_share_of_model = 0.1;
}  // namespace

ModelFirst::ModelFirst(std::size_t n, Join join)
    : lead_(lead(n)), late_(late_per_parameter * n), join_(std::move(join)) {}

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
  std::uint64_t asked = 0;
  for (const auto& m : members) asked += m.asked;
  const bool late = asked > late_;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto since = static_cast<double>(members[k].asked - std::exchange(counted_[k], members[k].asked));
    spent_[k] += since / share(k, members.size(), late);
  }
  return static_cast<std::size_t>(std::ranges::min_element(spent_) - spent_.begin());
}

double ModelFirst::share(std::size_t member, std::size_t members, bool late) const {
  if (late && member == model) return late_share_of_model;
  const double all = late ? 1 - late_share_of_model : 1;
  const auto rivals = static_cast<double>(late ? members - 1 : members);
  if (late && holder_ == model) return all / rivals;
  return all * (member == holder_ ? share_of_holder : (1 - share_of_holder) / (rivals - 1));
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

}  // namespace culmen::automatic
