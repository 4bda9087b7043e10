#include "culmen/transport/network/connection.hpp"

#include <fmt/format.h>

#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace culmen {
Connection::Connection(std::unique_ptr<ByteStream> stream)
    : stream_(std::move(stream)),
      taken_(stream_->executor(), asio::steady_timer::time_point::max()),
      lingering_(stream_->executor()),
      pulse_(stream_->executor()) {}

asio::awaitable<void> Connection::open() {
  co_await stream_->open();
  opened_ = true;
}

asio::awaitable<Bytes> Connection::read(std::size_t most_body_bytes, const char* advice, double stall_s) {
  try {
    while (true) {
      if (drops_) co_await drop_what_comes();
      auto block = take_block(most_body_bytes, advice);
      if (drops_) continue;
      given_bytes_ += block.size();
      if (!block.empty()) co_return block;
      std::optional<asio::steady_timer> stalled;
      if (stall_s > 0 && incoming_.has_begun())
        stalled = part_after(stall_s, fmt::format("no more of a frame came for {:.3g} s", stall_s));
      const auto room = incoming_.room();
      reading_ = true;
      const auto bytes = co_await stream_->read_some(asio::buffer(room.data(), room.size()));
      reading_ = false;
      heard_ = true;
      incoming_.filled(bytes);
    }
  } catch (const boost::system::system_error&) {
    if (drops_) throw Error(why_parted());
    throw;
  }
}

/// Empty: there is none.
Bytes Connection::take_block(std::size_t most_body_bytes, const char* advice) {
  try {
    return incoming_.take(most_body_bytes);
  } catch (const FrameTooLong& e) {
    part(refusal, fmt::format("it sent {}{}", e.what(), advice));
  } catch (const Error& e) {
    part(refusal, fmt::format("it sent {}", e.what()));
  }
  return {};
}

/// Bytes that were not read would delete the reason on its way. Never returns.
asio::awaitable<void> Connection::drop_what_comes() {
  Bytes dropped(std::size_t{4} << 10);
  while (true) co_await stream_->read_some(asio::buffer(dropped.data(), dropped.size()));
}

void Connection::expect_life(double silence_s) {
  if (stream_->asks_for_life()) return;
  constexpr int looks = 3;  // the first one after the last bytes, one that asks, and one after the time for an answer
  pulse_.expires_after(span_of(silence_s / looks));
  pulse_.async_wait([weak = weak_from_this(), silence_s](const boost::system::error_code& cancelled) {
    if (const auto there = weak.lock(); there && !cancelled) there->look_for_life(silence_s);
  });
}

void Connection::look_for_life(double silence_s) {
  const bool lives = std::exchange(heard_, false) || !reading_;
  if (!lives && asked_) return part(farewell, fmt::format("nothing came of it for {:.3g} s", silence_s));
  if (!lives) send(head_of(life_sign), {});
  asked_ = !lives;
  expect_life(silence_s);
}

asio::awaitable<void> Connection::wait_until_taken(std::size_t most) {
  most_ = most;
  while (must_wait()) {
    waits_ = true;
    if (!must_wait() && waits_.exchange(false)) co_return;
    boost::system::error_code cancelled;
    co_await taken_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!stream_->is_open()) co_return;
  }
}

void Connection::took(std::size_t bytes) {
  given_bytes_ -= bytes;
  if (must_wait() || !waits_.exchange(false)) return;
  // On the strand: the wait has begun by then.
  asio::post(executor(), [self = shared_from_this()] { self->taken_.cancel(); });
}

void Connection::take_all() {
  takes_all_ = true;
  took(0);
}

void Connection::send(const FrameHead& head, BytesView body) {
  const std::lock_guard lock(mutex_);
  if (parting_) return;
  append_frame(queue_, head, body);
  start_writing();
}

void Connection::send_last(const FrameHead& head) {
  const std::lock_guard lock(mutex_);
  send_at_the_end(head, {});
}

/// Under the lock.
void Connection::send_at_the_end(const FrameHead& head, BytesView body) {
  queue_.clear();
  append_frame(queue_, head, body);
  parting_ = true;
  start_writing();
}

std::string Connection::why_parted() {
  const std::lock_guard lock(mutex_);
  return why_parted_;
}

void Connection::part(FrameKind kind, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(parting_, true)) return;
  why_parted_ = why;
  drops_ = ending_ = true;
  send_at_the_end(head_of(kind), std::as_bytes(std::span(why)));
  asio::post(executor(), [self = shared_from_this()] {
    self->taken_.cancel();
    self->cut_soon();
  });
}

/// On the strand.
void Connection::cut_soon() {
  lingering_.expires_after(longest_parting);
  lingering_.async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    if (const auto there = weak.lock(); there && !cancelled) there->cut();
  });
}

/// Under the lock.
void Connection::start_writing() {
  if (std::exchange(writing_, true)) return;
  asio::co_spawn(
      executor(), [self = shared_from_this()] { return self->write_all(); }, asio::detached);
}

asio::awaitable<void> Connection::write_all() {
  Bytes block;
  try {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        clear(block);
        std::swap(block, queue_);
        if (block.empty()) {
          writing_ = false;
          if (ending_) stream_->end_writing();
          if (finishing_) stream_->cut();
          co_return;
        }
      }
      co_await stream_->write(asio::buffer(block.data(), block.size()));
    }
  } catch (const boost::system::system_error&) {
    stream_->cut();  // the reader notices; writing_ stays, so that nothing more is written
  }
}

void Connection::end_writing() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  start_writing();
}

void Connection::finish() {
  const std::lock_guard lock(mutex_);
  finishing_ = true;
  start_writing();
}

void Connection::cut() {
  asio::dispatch(executor(), [self = shared_from_this()] {
    self->stream_->cut();
    self->taken_.cancel();
  });
}

asio::steady_timer Connection::part_after(double seconds, std::string why) {
  asio::steady_timer deadline(executor(), span_of(seconds));
  deadline.async_wait([self = shared_from_this(), why = std::move(why)](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    if (self->opened_) return self->part(farewell, why);
    self->stream_->interrupt();
    self->cut_soon();
  });
  return deadline;
}

}  // namespace culmen
