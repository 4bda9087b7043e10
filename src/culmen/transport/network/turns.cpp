#include "culmen/transport/network/turns.hpp"

namespace culmen {

void Turns::wake() noexcept {
  alarm_.ring();
  changed_.notify_all();
}

void Turns::take(Lock& lock) {
  if (taken_) {
    ++wanted_;
    wake();
    changed_.wait(lock, [this] { return !taken_; });
    --wanted_;
  }
  taken_ = true;
  ++turns_;
}

void Turns::give_back() {
  taken_ = false;
  ++turns_;
  if (resting_ || wanted_ > 0) changed_.notify_all();
}

}  // namespace culmen
