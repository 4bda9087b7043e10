#include "culmen/base/stops.hpp"

#include <pthread.h>
#include <signal.h>

#include <array>
#include <iterator>
#include <mutex>

#include "culmen/base/process.hpp"

namespace culmen {
namespace {
/// In place of SIG_IGN, which a program that the process starts would inherit.
void do_nothing(int) {}

struct Ignored {
  std::mutex mutex;
  int objects = 0;
  std::array<struct sigaction, std::size(stop_signals)> former;
};

Ignored& ignored() {
  static auto& state = *new Ignored;  // also for objects that are destroyed at the end of the process
  return state;
}

thread_local sigset_t mask_before_fork;
thread_local int evaluating = 0;

sigset_t set_of_stops() {
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : stop_signals) sigaddset(&stops, stop);
  return stops;
}

/// The child gets no signal before it has the default actions; otherwise that signal would be lost.
void before_fork() {
  const auto stops = set_of_stops();
  pthread_sigmask(SIG_BLOCK, &stops, &mask_before_fork);
}

void restore_mask() { pthread_sigmask(SIG_SETMASK, &mask_before_fork, nullptr); }

void in_child() {
  const bool foreign_handlers = evaluating > 0 && ignored().objects == 0;
  for (const int stop : stop_signals) {
    struct sigaction now {};
    sigaction(stop, nullptr, &now);
    if (now.sa_handler == do_nothing || (foreign_handlers && now.sa_handler != SIG_IGN)) signal(stop, SIG_DFL);
  }
  evaluating = 0;  // handlers that the child sets are its own
  restore_mask();
}

void look_after_forks() {
  static const int registered = pthread_atfork(before_fork, restore_mask, in_child);
  (void)registered;
}
}  // namespace

StopSignalsIgnored::StopSignalsIgnored() {
  look_after_forks();
  auto& state = ignored();
  const std::lock_guard lock(state.mutex);
  if (state.objects++ > 0) return;
  struct sigaction nothing {};
  nothing.sa_handler = do_nothing;
  nothing.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < state.former.size(); ++i) sigaction(stop_signals[i], &nothing, &state.former[i]);
}

StopSignalsIgnored::~StopSignalsIgnored() {
  auto& state = ignored();
  const std::lock_guard lock(state.mutex);
  if (--state.objects > 0) return;
  for (std::size_t i = 0; i < state.former.size(); ++i) sigaction(stop_signals[i], &state.former[i], nullptr);
}

StopsReachChildren::StopsReachChildren() {
  look_after_forks();
  const auto stops = set_of_stops();
  pthread_sigmask(SIG_UNBLOCK, &stops, &former_mask_);
  ++evaluating;
}

StopsReachChildren::~StopsReachChildren() {
  if (evaluating > 0) --evaluating;  // 0 in a fork of the function
  pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
}

}  // namespace culmen
