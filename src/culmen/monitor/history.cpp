#include "culmen/monitor/history.hpp"

#include <algorithm>
#include <utility>

namespace culmen {
namespace {

std::size_t bytes_of(const ToldEvaluation& told) {
  const auto& o = told.outcome;
  std::size_t sum = sizeof(ToldEvaluation) + o.message.capacity() + o.extras.capacity() * sizeof(o.extras.front());
  for (const auto* numbers : {&told.candidate.x, &o.values, &o.residuals}) sum += numbers->capacity() * sizeof(double);
  return sum;
}

}  // namespace

void History::add(ToldEvaluation told) {
  const std::lock_guard lock(mutex_);
  told.number = dropped_ + kept_.size();
  bytes_ += bytes_of(told);
  kept_.push_back(std::move(told));
  for (; bytes_ > most_bytes_; ++dropped_) {
    bytes_ -= bytes_of(kept_.front());
    kept_.pop_front();
  }
}

std::uint64_t History::count() const {
  const std::lock_guard lock(mutex_);
  return dropped_ + kept_.size();
}

std::uint64_t History::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::vector<ToldEvaluation> History::from(std::uint64_t first, std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const auto begin = std::min<std::uint64_t>(first > dropped_ ? first - dropped_ : 0, kept_.size());
  const auto count = std::min<std::uint64_t>(most, kept_.size() - begin);
  const auto at = kept_.begin() + static_cast<std::ptrdiff_t>(begin);
  return {at, at + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace culmen
