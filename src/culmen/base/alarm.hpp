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
  /// Ends the sleep of now, or else the next one. Any thread, and a signal handler.
  void ring() noexcept;
  /// At most so many seconds (infinity: no limit); false if nobody rang. One thread.
  bool sleep(double at_most_s);
  /// Until somebody rings (true), or the descriptor can be read or is at its end. One thread.
  bool sleep_beside(int descriptor);

 private:
  int fd_;
};

}  // namespace culmen
