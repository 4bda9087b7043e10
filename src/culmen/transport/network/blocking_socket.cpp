#include "culmen/transport/network/blocking_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr int unanswered_ms = 30'000;

[[noreturn]] void fail(int error) { throw TransportError(std::strerror(error)); }

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Found look_up(const Address& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (code != 0) throw TransportError(gai_strerror(code));
  return {found, &freeaddrinfo};
}
}  // namespace

void BlockingSocket::connect(const Address& address) {
  close();
  const auto found = look_up(address);
  int error = ECONNREFUSED;
  for (const auto* one = found.get(); one != nullptr; one = one->ai_next) {
    const int fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(errno);
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
    {
      const std::lock_guard lock(mutex_);
      fd_ = fd;
    }
    if (::connect(fd, one->ai_addr, one->ai_addrlen) == 0) {
      const std::lock_guard lock(mutex_);
      if (interrupted_) fail(ECANCELED);
      return;
    }
    error = errno;
    close();
  }
  fail(error);
}

void BlockingSocket::write(BytesView bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

Bytes BlockingSocket::read_all() {
  Bytes out;
  std::size_t filled = 0;
  while (true) {
    if (out.size() < filled + piece_bytes) out.resize(2 * filled + piece_bytes);
    const auto n = ::recv(fd_, out.data() + filled, out.size() - filled, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(errno);
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  out.resize(filled);
  return out;
}

void BlockingSocket::close() noexcept {
  const std::lock_guard lock(mutex_);
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void BlockingSocket::interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (fd_ >= 0) ::shutdown(fd_, SHUT_RDWR);
}

}  // namespace culmen
