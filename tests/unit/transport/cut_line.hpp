// A line between a worker and its master that a test can disturb.
#pragma once
#include <atomic>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "network_fixture.hpp"

namespace culmen {

inline int connect_to(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return fd;
}

/// Passes bytes between workers and their master.
class CutLine {
 public:
  explicit CutLine(std::uint16_t to) : to_(to), thread_([this] { pass(); }) {}
  ~CutLine() {
    listener_.end();
    cut();
    thread_.join();
    for (auto& thread : passing_) thread.join();
  }
  CutLine(const CutLine&) = delete;
  CutLine& operator=(const CutLine&) = delete;
  std::uint16_t port() const { return listener_.port(); }
  /// Ends the connections of now.
  void cut() {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) shutdown(fd, SHUT_RDWR);
  }
  /// While it is on, all bytes are dropped; neither side notices.
  void swallow(bool on) { swallows_ = on; }
  /// The same for the bytes from workers, after this number of bytes.
  void swallow_after(std::ptrdiff_t bytes) { passes_ = bytes; }
  std::size_t swallowed() const { return swallowed_; }
  /// Bytes that workers got so far.
  std::size_t passed_to_workers() const { return to_workers_; }

 private:
  void pass() {
    while (true) {
      const int worker = listener_.take();
      if (worker < 0) return;
      const int master = connect_to(to_);
      const std::lock_guard lock(mutex_);
      open_.insert(open_.end(), {worker, master});
      passing_.emplace_back([=, this] { copy(worker, master, true); });
      passing_.emplace_back([=, this] { copy(master, worker, false); });
    }
  }
  void copy(int from, int to, bool to_master) {
    char bytes[4096];
    ssize_t n = 0;
    while ((n = recv(from, bytes, sizeof bytes, 0)) > 0) {
      if (swallows_ || (to_master && (passes_ -= n) < 0)) swallowed_ += static_cast<std::size_t>(n);
      else if (send(to, bytes, static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) break;
      else if (!to_master) to_workers_ += static_cast<std::size_t>(n);
    }
    shutdown(from, SHUT_RDWR);
    shutdown(to, SHUT_RDWR);
  }
  std::uint16_t to_;
  ListeningSocket listener_;
  std::atomic<bool> swallows_ = false;
  std::atomic<std::size_t> swallowed_ = 0, to_workers_ = 0;
  std::atomic<std::ptrdiff_t> passes_ = std::numeric_limits<std::ptrdiff_t>::max();  // bytes to the master
  std::mutex mutex_;                                                                 // of the following
  std::vector<int> open_;
  std::vector<std::thread> passing_;
  std::thread thread_;
};

/// Of a worker that reaches this master through the line.
inline JoinOptions joining(const OpenTransport& transport, const CutLine& line) {
  auto options = joining(transport);
  options.address.port = line.port();
  return options;
}

}  // namespace culmen
