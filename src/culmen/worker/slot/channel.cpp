#include "culmen/worker/slot/channel.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace culmen {
namespace {
constexpr std::uint64_t largest_frame = std::uint64_t{1} << 32;

ChannelProgress end_of(int error) { return error == ECONNRESET ? ChannelProgress::reset : ChannelProgress::ended; }
}  // namespace

ChannelProgress ChannelWriter::step(int fd, int flags) {
  iovec parts[2] = {{&length_, sizeof length_}, {const_cast<std::byte*>(frame_.data()), frame_.size()}};
  auto done = sent_;
  for (auto& part : parts) {
    const auto of_part = std::min(done, part.iov_len);
    part.iov_base = static_cast<char*>(part.iov_base) + of_part;
    part.iov_len -= of_part;
    done -= of_part;
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const auto n = sendmsg(fd, &message, flags | MSG_NOSIGNAL);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return ChannelProgress::more;
  if (n < 0) return end_of(errno);
  sent_ += static_cast<std::size_t>(n);
  return sent_ == sizeof length_ + frame_.size() ? ChannelProgress::complete : ChannelProgress::more;
}

bool send_frame(int fd, BytesView frame) {
  ChannelWriter writer(frame);
  auto progress = ChannelProgress::more;
  while (progress == ChannelProgress::more) progress = writer.step(fd, 0);
  return progress == ChannelProgress::complete;
}

void ChannelReader::drop_frame() {
  const Bytes rest(buffer_.begin() + static_cast<std::ptrdiff_t>(wanted_),
                   buffer_.begin() + static_cast<std::ptrdiff_t>(have_));
  clear(buffer_);
  buffer_.assign(rest.begin(), rest.end());
  buffer_.resize(std::max(small_bytes, rest.size()));
  have_ = rest.size();
  wanted_ = prefix_bytes;
  complete_ = false;
}

Bytes ChannelReader::take(BytesView part) {
  constexpr std::size_t many = std::size_t{1} << 20;
  if (part.size() < many || holds_more()) return {part.begin(), part.end()};
  const auto begin = part.data() - buffer_.data();
  Bytes out = std::exchange(buffer_, Bytes(small_bytes));
  out.resize(static_cast<std::size_t>(begin) + part.size());
  out.erase(out.begin(), out.begin() + begin);
  have_ = 0;
  wanted_ = prefix_bytes;
  complete_ = false;
  return out;
}

void ChannelReader::release() {
  if (complete_ && !holds_more()) drop_frame();
}

ChannelReader::Progress ChannelReader::look() {
  if (have_ < prefix_bytes) return Progress::more;
  std::uint64_t length = 0;
  std::memcpy(&length, buffer_.data(), prefix_bytes);
  if (length > largest_frame) return Progress::ended;
  wanted_ = prefix_bytes + length;
  complete_ = have_ >= wanted_;
  return complete_ ? Progress::complete : Progress::more;
}

ChannelReader::Progress ChannelReader::step(int fd, int flags) {
  if (complete_) {
    drop_frame();
    if (const auto progress = look(); progress != Progress::more) return progress;
  }
  if (buffer_.size() < wanted_) {
    make_room(buffer_, wanted_);
    buffer_.resize(wanted_);
  }
  const auto n = recv(fd, buffer_.data() + have_, buffer_.size() - have_, flags);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return Progress::more;
  if (n <= 0) return n < 0 ? end_of(errno) : Progress::ended;
  have_ += static_cast<std::size_t>(n);
  return look();
}

}  // namespace culmen
