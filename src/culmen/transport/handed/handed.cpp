#include "culmen/transport/handed/handed.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "culmen/base/portion.hpp"

namespace culmen {
namespace {
constexpr double longest_wait_s = 1e6;  // the longest wait of a condition variable
constexpr std::size_t portion = 1024;   // frames of one receive()

std::chrono::duration<double> span(double seconds) {
  return std::chrono::duration<double>(std::clamp(seconds, 0.0, longest_wait_s));
}
}  // namespace

void HandedTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  out_.push_back({worker, head, Bytes(body.begin(), body.end())});
  if (out_.size() == 1) out_changed_.notify_all();
}

bool HandedTransport::receive(Sink& sink) {
  std::deque<HandedFrame> arrived;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    arrived = take_portion(in_, portion);
  }
  const bool first = !std::exchange(joined_, true);
  if (first)
    for (WorkerId worker = 0; worker < workers_; ++worker) sink.joined(worker);
  for (const auto& frame : arrived) sink.arrived(frame.worker, frame.head, frame.body);
  return first || !arrived.empty();
}

void HandedTransport::sleep(double at_most_s) {
  {
    const std::lock_guard lock(mutex_);
    if (!in_.empty() && !closed_) return;
  }
  alarm_.sleep(at_most_s);
}

bool HandedTransport::dismiss() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  out_changed_.notify_all();
  return true;
}

void HandedTransport::close(double) { dismiss(); }

std::vector<HandedFrame> HandedTransport::take(double at_most_s) {
  std::unique_lock lock(mutex_);
  out_changed_.wait_for(lock, span(at_most_s), [this] { return closed_ || !out_.empty(); });
  return closed_ ? std::vector<HandedFrame>{} : std::exchange(out_, {});
}

void HandedTransport::answer(HandedFrame frame) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  in_.push_back(std::move(frame));
  if (in_.size() == 1) alarm_.ring();
}

bool HandedTransport::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace culmen
