// The only source of time in culmen's parts. The broker and the optimizers never see it; the engine gets one.
#pragma once

namespace culmen {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Seconds since some fixed moment; never goes back. Safe from any thread.
  virtual double now_s() const = 0;
};

/// CLOCK_MONOTONIC.
class SteadyClock final : public Clock {
 public:
  double now_s() const override;
};

/// Seconds since 1970 UTC, for records that people read.
double wall_clock_s();

}  // namespace culmen
