#include "culmen/transport/network/arrivals.hpp"

#include <utility>

#include "culmen/base/portion.hpp"

namespace culmen {
namespace {
constexpr std::size_t most_at_once = 1024;
}  // namespace

void Arrivals::ring(std::function<void()> bell) {
  const std::lock_guard lock(mutex_);
  bell_ = std::move(bell);
}

void Arrivals::add(Arrival arrival) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  waiting_.push_back(std::move(arrival));
  if (waiting_.size() > 1) return;
  if (bell_) bell_();
  else alarm_.ring();
}

std::deque<Arrival> Arrivals::take() {
  const std::lock_guard lock(mutex_);
  return take_portion(waiting_, most_at_once);
}

void Arrivals::sleep(double at_most_s) {
  {
    const std::lock_guard lock(mutex_);
    if (!waiting_.empty()) return;
  }
  alarm_.sleep(at_most_s);
}

void Arrivals::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
}

}  // namespace culmen
