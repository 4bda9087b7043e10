#include "culmen/study/source/program_source.hpp"

#include <chrono>
#include <utility>

namespace culmen {

void ProgramSource::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

std::vector<Finished> ProgramSource::take(double timeout_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double>(timeout_s), [this] { return !finished_.empty() || ended_; });
  return std::exchange(finished_, {});
}

void ProgramSource::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool ProgramSource::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

std::uint64_t ProgramSource::asked() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void ProgramSource::finish(std::uint64_t number, Outcome&& outcome) {
  finished_.push_back({number, std::move(outcome)});
  if (finished_.size() == 1) changed_.notify_one();
}

}  // namespace culmen
