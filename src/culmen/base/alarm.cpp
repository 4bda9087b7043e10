#include "culmen/base/alarm.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>

#include "culmen/base/error.hpp"

namespace culmen {

Alarm::Alarm() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw TransportError("cannot make an event descriptor; this process has too many open files");
}

Alarm::~Alarm() { close(fd_); }

void Alarm::ring() noexcept { eventfd_write(fd_, 1); }

bool Alarm::sleep(double at_most_s) {
  pollfd waiting{fd_, POLLIN, 0};
  constexpr double no_limit_from_s = 1e6;
  const double limit_s = std::clamp(at_most_s, 0.0, no_limit_from_s), whole_s = std::floor(limit_s);
  const timespec limit{static_cast<time_t>(whole_s), static_cast<long>((limit_s - whole_s) * 1e9)};
  if (ppoll(&waiting, 1, limit_s < no_limit_from_s ? &limit : nullptr, nullptr) <= 0) return false;
  eventfd_t rung = 0;
  return eventfd_read(fd_, &rung) == 0;
}

bool Alarm::sleep_beside(int descriptor) {
  pollfd waiting[] = {{fd_, POLLIN, 0}, {descriptor, POLLIN, 0}};
  poll(waiting, 2, -1);
  eventfd_t rung = 0;
  return waiting[0].revents != 0 && eventfd_read(fd_, &rung) == 0;
}

}  // namespace culmen
