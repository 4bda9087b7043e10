#include "culmen/base/clock.hpp"

#include <ctime>

namespace culmen {
namespace {
double seconds(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
}  // namespace

double SteadyClock::now_s() const { return seconds(CLOCK_MONOTONIC); }
double wall_clock_s() { return seconds(CLOCK_REALTIME); }

}  // namespace culmen
