#include "culmen/transport/network/turns.hpp"

#include <boost/asio/post.hpp>

namespace culmen {

void Turns::wake() {
  boost::asio::post(io_, [] {});
  changed_.notify_all();
}

void Turns::take(Lock& lock) {
  if (running_) {
    ++wanted_;
    wake();
    changed_.wait(lock, [this] { return !running_; });
    --wanted_;
  }
  running_ = true;
  ++taken_;
}

void Turns::give_back() {
  running_ = false;
  ++taken_;
  if (resting_ || wanted_ > 0) changed_.notify_all();
}

void Turns::run_one(Lock& lock, Deadline deadline) {
  lock.unlock();
  if (deadline) io_.run_one_until(*deadline);
  else io_.run_one();
  lock.lock();
}

void Turns::poll(Lock& lock) {
  take(lock);
  lock.unlock();
  io_.poll();
  lock.lock();
  give_back();
}

}  // namespace culmen
