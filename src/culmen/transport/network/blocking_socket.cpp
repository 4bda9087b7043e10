#include "culmen/transport/network/blocking_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/unreached.hpp"

namespace culmen {
namespace {
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr int unanswered_ms = 30'000;

[[noreturn]] void fail(int error) { throw TransportError(std::strerror(error)); }

[[noreturn]] void fail_to_reach(const Address& address, int error, double waited_s) {
  if (error == EINPROGRESS) throw TransportError(why_silent(waited_s));
  throw TransportError(why_unreached(address, {error, boost::system::system_category()}));
}

timeval moment_of(double seconds) {
  const auto whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<suseconds_t>((seconds - whole) * 1e6) + 1};
}

using Found = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Found look_up(const Address& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (code == EAI_NONAME) throw UnknownHost(why_unreached(address, boost::asio::error::host_not_found));
  if (code != 0) throw TransportError(gai_strerror(code));
  return {found, &freeaddrinfo};
}
}  // namespace

void BlockingSocket::connect(const Address& address, double at_most_s) {
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
    const auto longest = moment_of(at_most_s);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    {
      const std::lock_guard lock(mutex_);
      fd_ = fd;
    }
    if (::connect(fd, one->ai_addr, one->ai_addrlen) == 0) {
      const timeval no_limit{};
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &no_limit, sizeof no_limit);
      const std::lock_guard lock(mutex_);
      if (interrupted_) fail(ECANCELED);
      return;
    }
    error = errno;
    close();
  }
  fail_to_reach(address, error, at_most_s);
}

void BlockingSocket::expect_within(double seconds) {
  longest_silence_s_ = seconds;
  const auto longest = moment_of(seconds);
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
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
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) throw TransportError(why_silent(longest_silence_s_));
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
