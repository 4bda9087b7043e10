#include "culmen/study/points_source.hpp"

#include <chrono>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {

bool PointsSource::push(std::vector<std::vector<double>> vectors) {
  const std::lock_guard lock(mutex_);
  if (closed_ || ended_) throw InputError("these evaluations have ended; they take nothing more");
  for (auto& x : vectors) queue_.push_back(std::move(x));
  return std::exchange(hungry_, false);
}

void PointsSource::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::vector<FinishedPoint> PointsSource::take(double timeout_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(timeout_s), [this] { return !finished_.empty() || ended_; });
  return std::exchange(finished_, {});
}

void PointsSource::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool PointsSource::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
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
  finished_.push_back({id, std::move(outcome)});
  if (finished_.size() == 1) changed_.notify_one();
}

void PointsSource::cancel(EvaluationId) {
  const std::lock_guard lock(mutex_);
  --open_;
}

bool PointsSource::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && queue_.empty() && open_ == 0;
}

std::uint64_t PointsSource::asked() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

}  // namespace culmen
