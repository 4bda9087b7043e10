#include "culmen/worker/slot/slot_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"

namespace culmen {

Bytes request_frame(const Request& request) {
  Bytes frame;
  ByteWriter(frame).u32(request.attempt);
  encode(request.candidate, frame);
  return frame;
}

Bytes batch_frame(std::span<const Request> requests) {
  Bytes bytes;
  ByteWriter frame(bytes);
  frame.u32(static_cast<std::uint32_t>(requests.size()));
  for (const auto& request : requests) frame.blob(request_frame(request));
  return bytes;
}

std::pair<SlotSocket, SlotSocket> SlotSocket::make_pair() {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    throw Error(fmt::format("cannot make a socket for a slot: {}", std::strerror(errno)));
  return {SlotSocket(pair[0]), SlotSocket(pair[1])};
}

SlotSocket::~SlotSocket() {
  if (fd_ >= 0) close(fd_);
}

ChannelProgress SlotOutbox::write_some(const SlotSocket& to) {
  while (!frames_.empty()) {
    const auto progress = frames_.front().writer.step(to.fd(), MSG_DONTWAIT);
    if (progress == ChannelProgress::more) return progress;
    if (progress != ChannelProgress::complete) {
      frames_.clear();
      return progress;
    }
    frames_.pop_front();
  }
  return ChannelProgress::complete;
}

}  // namespace culmen
