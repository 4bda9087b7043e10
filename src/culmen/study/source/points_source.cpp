#include "culmen/study/source/points_source.hpp"

#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {

bool PointsSource::push(std::vector<std::vector<double>> vectors) {
  const std::lock_guard lock(mutex_);
  if (shut()) throw InputError("these evaluations have ended; they accept no more candidates");
  for (auto& x : vectors) queue_.push_back(std::move(x));
  return std::exchange(hungry_, false);
}

std::size_t PointsSource::ask(std::size_t n, std::vector<Candidate>& out) {
  const std::lock_guard lock(mutex_);
  std::size_t given = 0;
  for (; given < n && !queue_.empty(); ++given) {
    out.push_back({next_++, std::move(queue_.front()), {}});
    queue_.pop_front();
  }
  open_ += given;
  hungry_ = given < n;
  return given;
}

void PointsSource::tell(EvaluationId id, Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  --open_;
  finish(id, std::move(outcome));
}

void PointsSource::cancel(EvaluationId) {
  const std::lock_guard lock(mutex_);
  --open_;
}

bool PointsSource::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && queue_.empty() && open_ == 0;
}

}  // namespace culmen
