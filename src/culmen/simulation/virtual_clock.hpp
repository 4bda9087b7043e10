// Time that passes only when the simulation says so.
#pragma once
#include "culmen/base/clock.hpp"

namespace culmen {

class VirtualClock final : public Clock {
 public:
  double now_s() const override { return now_s_; }
  void advance_to(double t_s) {
    if (t_s > now_s_) now_s_ = t_s;
  }

 private:
  double now_s_ = 0;
};

}  // namespace culmen
