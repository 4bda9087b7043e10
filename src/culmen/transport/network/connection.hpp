// One connection: frames from any thread out, blocks of whole frames in.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "culmen/transport/network/byte_stream.hpp"
#include "culmen/transport/network/incoming.hpp"
#include "culmen/transport/network/wire.hpp"

#include <boost/asio/steady_timer.hpp>

namespace culmen {

/// For the other side to read why a connection ends.
inline constexpr std::chrono::seconds longest_parting{2};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  explicit Connection(std::unique_ptr<ByteStream> stream);

  /// The first of them must be called, and the next one awaited, on the strand of the stream. They throw
  /// boost::system::system_error at the end of the connection, and Error if it ends by part().
  asio::awaitable<void> open();
  /// Whole frames, at least one. Ends the connection by part() if the peer sends bytes that are no frames, sends a
  /// longer body, or stops within a frame for `stall_s`. `advice`: what to do about a longer body; may be empty.
  asio::awaitable<Bytes> read(std::size_t most_body_bytes, const char* advice = "", double stall_s = 0);
  /// From now on, ends the connection by part() if the peer is silent for this time during a read(), though it was
  /// asked for a sign of life. On the strand.
  void expect_life(double silence_s);
  /// Returns when fewer than `most` bytes that were read are not yet taken().
  asio::awaitable<void> wait_until_taken(std::size_t most);

  /// Queues a frame. Any thread.
  void send(const FrameHead& head, BytesView body);
  /// The same in place of all that is queued, and nothing after it. Any thread.
  void send_last(const FrameHead& head);
  /// Sends a frame of this kind with the reason in place of all that is queued. From now on read() drops what comes,
  /// until the other side ends the connection or a moment has passed, and throws Error with this reason. The first call
  /// counts. Any thread.
  void part(FrameKind kind, const std::string& why);
  /// Counts what read() gave; any thread.
  void took(std::size_t bytes);
  /// From now on nothing waits until it is taken. Any thread.
  void take_all();
  /// The other side reads the end of the stream after all that is queued. Any thread.
  void end_writing();
  /// Ends the connection once all that is queued has been written. Any thread.
  void finish();
  /// Ends it now; on the strand, before it returns. Any thread.
  void cut();
  /// Parts after this time, unless the timer is destroyed before. Before open() has ended, interrupts it instead.
  asio::steady_timer part_after(double seconds, std::string why);
  asio::any_io_executor executor() { return stream_->executor(); }

 private:
  void send_at_the_end(const FrameHead& head, BytesView body);
  std::string why_parted();
  Bytes take_block(std::size_t most_body_bytes, const char* advice);
  void cut_soon();
  void look_for_life(double silence_s);
  asio::awaitable<void> drop_what_comes();
  bool must_wait() const { return !takes_all_ && !drops_ && given_bytes_ >= most_; }
  void start_writing();
  asio::awaitable<void> write_all();

  std::unique_ptr<ByteStream> stream_;
  asio::steady_timer taken_, lingering_, pulse_;
  Incoming incoming_;
  bool opened_ = false;
  bool reading_ = false, heard_ = false, asked_ = false;  // for a sign of life
  std::atomic<std::size_t> given_bytes_ = 0;
  std::atomic<std::size_t> most_ = 0;
  std::atomic<bool> waits_ = false, takes_all_ = false, drops_ = false;
  std::mutex mutex_;  // of the following
  Bytes queue_;
  bool writing_ = false;
  bool parting_ = false, ending_ = false, finishing_ = false;
  std::string why_parted_;
};

}  // namespace culmen
