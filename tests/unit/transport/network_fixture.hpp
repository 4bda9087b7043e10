// Common helpers of the network's tests: the two sides of a study, frames, and a master that is written by hand.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/blocking_socket.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/wire.hpp"

namespace culmen {

/// A test that takes longer hangs.
inline constexpr double hangs_s = 300;

inline ListenOptions listen_at(const std::string& scheme) {
  ListenOptions options;
  options.address = {scheme, "127.0.0.1", 0};
  options.token = "secret";
  options.work = 7;
  return options;
}

/// Of a worker that this master welcomes.
inline JoinOptions joining(const OpenTransport& transport) {
  return {.address = transport.address(),
          .fingerprint = transport.fingerprint(),
          .token = "secret",
          .work = 7,
          .patience_s = hangs_s};
}

/// The same, written by hand.
inline Greeting greeting_by_hand(const std::string& version = CULMEN_VERSION) {
  return {.token = "secret", .work = 7, .who = "by hand", .version = version};
}

/// The sentence of the Error that `f` throws, else "no error".
template <class F>
std::string complaint_of(F f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline FrameHead frame_of(EvaluationId evaluation, FrameKind kind = FrameKind::evaluate) {
  FrameHead head;
  head.evaluation = evaluation;
  head.kind = kind;
  return head;
}

/// The only frame that comes until the other side ends the connection.
inline std::pair<FrameKind, std::string> only_frame(BlockingSocket& socket) {
  const auto block = socket.read_all();
  BytesView rest = block, body;
  FrameHead head;
  EXPECT_TRUE(next_frame(rest, head, body));
  EXPECT_TRUE(rest.empty());
  return {head.kind, text_in(body)};
}

/// The events that a transport delivered.
struct Heard final : Transport::Sink {
  void joined(WorkerId worker) override { came.push_back(worker); }
  void arrived(WorkerId worker, const FrameHead& head, BytesView) override {
    frames.emplace_back(worker, head.evaluation);
    if (reply) reply(worker, head);
  }
  void lost(WorkerId worker, const std::string& why) override { left.emplace_back(worker, why); }
  std::function<void(WorkerId, const FrameHead&)> reply;
  std::vector<WorkerId> came;
  std::vector<std::pair<WorkerId, EvaluationId>> frames;
  std::vector<std::pair<WorkerId, std::string>> left;
};

template <class Done>
void receive_until(Transport& transport, Heard& heard, Done done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(hangs_s);
  while (!done()) {
    ASSERT_LT(std::chrono::steady_clock::now(), until);
    if (!transport.receive(heard)) transport.sleep(1);
  }
}

/// A listening socket of this machine, on a port that the system chose.
class ListeningSocket {
 public:
  ListeningSocket() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(listen(fd_, 16), 0);
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size), 0);
    port_ = ntohs(at.sin_port);
  }
  ~ListeningSocket() { close(fd_); }
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  std::uint16_t port() const { return port_; }
  /// Waits for a connection. Below 0 after end().
  int take() const { return accept(fd_, nullptr, nullptr); }
  /// Any thread.
  void end() { shutdown(fd_, SHUT_RDWR); }

 private:
  int fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::uint16_t port_ = 0;
};

/// Of a worker of a master that is written by hand.
inline JoinOptions joining(const ListeningSocket& master, const std::string& scheme = "tcp") {
  JoinOptions options;
  options.address = {scheme, "127.0.0.1", master.port()};
  options.patience_s = hangs_s;
  return options;
}

/// Of this process: connections to or from the port.
inline std::vector<int> connections_at(std::uint16_t port) {
  std::vector<int> found;
  for (int fd = 0; fd < 1024; ++fd) {
    sockaddr_in here{}, there{};
    socklen_t size = sizeof here, other_size = sizeof there;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&here), &size) != 0 || here.sin_family != AF_INET) continue;
    if (getpeername(fd, reinterpret_cast<sockaddr*>(&there), &other_size) != 0) continue;
    if (ntohs(here.sin_port) == port || ntohs(there.sin_port) == port) found.push_back(fd);
  }
  return found;
}

/// Answers the greeting of one worker with this frame, and ends the connection.
inline void play_master(const ListeningSocket& listener, FrameKind kind) {
  const int fd = listener.take();
  std::byte some[4096];
  EXPECT_GT(recv(fd, some, sizeof some, 0), 0);
  Bytes out;
  append_frame(out, head_of(kind), {});
  EXPECT_EQ(send(fd, out.data(), out.size(), MSG_NOSIGNAL), static_cast<ssize_t>(out.size()));
  close(fd);
}

}  // namespace culmen
