// Ends a sleep, also from a signal handler.
#pragma once

namespace culmen {

class Alarm {
 public:
  /// Throws TransportError if this process has too many open files.
  Alarm();
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  /// Ends the current sleep, or else the next one. May be called in any thread and in a signal handler.
  void ring() noexcept;
  /// Sleeps until somebody rings, for at most this number of seconds (infinity: no limit). False if nobody rang. Only
  /// one thread may call it.
  bool sleep(double at_most_s);
  /// Sleeps until somebody rings (true), or until the descriptor is readable or at its end (false). Only one thread may
  /// call it.
  bool sleep_beside(int descriptor);

 private:
  int fd_;
};

}  // namespace culmen
