#include "culmen/transport/network/byte_stream.hpp"

#include <netinet/tcp.h>
#include <poll.h>

namespace culmen {
namespace {
using asio::ip::tcp;

/// A peer that does not answer for this time is gone, whether or not data is on its way.
constexpr int silence_ms = 30'000, probe_after_s = 10, probe_every_s = 5, probes = 4;
}  // namespace

bool can_be_read(int descriptor) {
  pollfd looked{descriptor, POLLIN, 0};
  return poll(&looked, 1, 0) > 0;
}

void ByteStream::set_up() {
  const int fd = descriptor(), on = 1;
  const auto set = [&](int level, int name, int value) { setsockopt(fd, level, name, &value, sizeof value); };
  set(IPPROTO_TCP, TCP_NODELAY, on);
  set(SOL_SOCKET, SO_KEEPALIVE, on);
  set(IPPROTO_TCP, TCP_KEEPIDLE, probe_after_s);
  set(IPPROTO_TCP, TCP_KEEPINTVL, probe_every_s);
  set(IPPROTO_TCP, TCP_KEEPCNT, probes);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, silence_ms);
}

void ByteStream::end_writing() noexcept {
  boost::system::error_code ignored;
  socket().shutdown(tcp::socket::shutdown_send, ignored);
}

void ByteStream::cut() noexcept {
  boost::system::error_code ignored;
  socket().close(ignored);
}

void ByteStream::interrupt() noexcept {
  boost::system::error_code ignored;
  socket().cancel(ignored);
}

bool ByteStream::is_open() noexcept { return socket().is_open(); }

void ByteStream::become_blocking() {
  socket().non_blocking(false);
  socket().native_non_blocking(false);
}

}  // namespace culmen
