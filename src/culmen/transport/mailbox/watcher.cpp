#include "culmen/transport/mailbox/watcher.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "culmen/base/error.hpp"

namespace culmen {

namespace {
constexpr std::uint64_t stop_tag = ~std::uint64_t{0};

[[noreturn]] void no_descriptor(const std::string& what) {
  throw TransportError(fmt::format("cannot watch {}: {}", what, std::strerror(errno)));
}

bool add(int epoll, int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/// Signals go to the threads of the program, never to this one.
std::thread start_without_signals(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}
}  // namespace

ProcessWatcher::ProcessWatcher(Report report)
    : report_(std::move(report)), epoll_(epoll_create1(EPOLL_CLOEXEC)), stop_(eventfd(0, EFD_CLOEXEC)) {
  if (epoll_ < 0 || stop_ < 0 || !add(epoll_, stop_, stop_tag)) {
    forget_all();
    no_descriptor("processes");
  }
  thread_ = start_without_signals([this] { loop(); });
}

ProcessWatcher::~ProcessWatcher() {
  eventfd_write(stop_, 1);
  thread_.join();
  forget_all();
}

void ProcessWatcher::forget_all() noexcept {
  for (const auto& [worker, watched] : watched_) close(watched.pidfd);
  if (stop_ >= 0) close(stop_);
  if (epoll_ >= 0) close(epoll_);
}

void ProcessWatcher::watch(WorkerId worker, const ProcessId& process, bool ours) {
  const int pidfd = open_pidfd(process);
  if (pidfd < 0 && alive(process)) no_descriptor(fmt::format("process {} of worker {}", process.pid, worker));
  if (pidfd < 0) return report_(worker, ours ? reap(process.pid) : -1);
  std::lock_guard lock(mutex_);
  if (!watched_.try_emplace(worker, Watched{process.pid, pidfd, ours}).second) {
    close(pidfd);
    throw TransportError(fmt::format("worker {} is watched already", worker));
  }
  if (add(epoll_, pidfd, worker)) return;
  watched_.erase(worker);
  close(pidfd);
  no_descriptor(fmt::format("process {} of worker {}", process.pid, worker));
}

void ProcessWatcher::died(WorkerId worker) {
  std::unique_lock lock(mutex_);
  const auto node = watched_.extract(worker);
  lock.unlock();
  if (node.empty()) return;
  close(node.mapped().pidfd);
  report_(worker, node.mapped().ours ? reap(node.mapped().pid) : -1);
}

void ProcessWatcher::loop() {
  for (;;) {
    epoll_event events[64];
    const int n = epoll_wait(epoll_, events, 64, -1);
    for (int i = 0; i < n; ++i) {
      if (events[i].data.u64 == stop_tag) return;
      died(static_cast<WorkerId>(events[i].data.u64));
    }
  }
}

}  // namespace culmen
