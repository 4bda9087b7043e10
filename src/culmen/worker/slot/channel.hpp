// Frames between a worker and its slot, over a stream socket that is the slot's descriptor 3: u64 length
// (little-endian), then the bytes.
//
//   worker -> slot: the encoded SetUp                     slot -> worker: a sentence; empty when ready
//   worker -> slot: u32 attempt, the encoded candidate    slot -> worker: u32 attempt, u64 evaluation, u64 log, the
//                                                                         encoded outcome
//   … and so on
//
// `log` is the size of the slot's log (its stdout and stderr) at the end of the evaluation, or 2^64 - 1 if it is not
// known.
//
// In a study whose set-up has a batch > 0 these are instead u32 n, n blobs, each of which is such a request (answer).
//
// One further request may wait in the socket while the slot evaluates. Answers come in the order of requests. An answer
// names its evaluation, because the slot may run code that also writes to the socket. The slot leaves when the socket
// ends.
#pragma once
#include "culmen/base/bytes.hpp"

namespace culmen {

inline constexpr int slot_descriptor = 3;

/// `ended`: the other side is gone. `reset`: it is gone, and left something unread.
enum class ChannelProgress : unsigned char { more, complete, ended, reset };

/// Sends one frame, which must outlive the writer.
class ChannelWriter {
 public:
  explicit ChannelWriter(BytesView frame) : length_(frame.size()), frame_(frame) {}
  /// Calls sendmsg once with these flags.
  ChannelProgress step(int fd, int flags);

 private:
  std::uint64_t length_;
  BytesView frame_;
  std::size_t sent_ = 0;
};

/// Sleeps while the socket is full. False if the other side is gone.
bool send_frame(int fd, BytesView frame);

/// Collects one frame at a time. The bytes may be anything: lengths are checked.
class ChannelReader {
 public:
  using Progress = ChannelProgress;
  ChannelReader() : buffer_(small_bytes) {}
  /// Calls recv with these flags, at most once. `ended`: also if the bytes are not a frame. After `complete` the next
  /// call begins a new frame.
  Progress step(int fd, int flags);
  /// After `complete`: the beginning of a further frame has been received, so poll() may not announce it.
  bool holds_more() const { return complete_ && have_ > wanted_; }
  /// Bytes of the complete frame. Many are not copied: they end the frame.
  Bytes take(BytesView part);
  /// After `complete`, if the frame is not needed any more: frees its memory if it is large.
  void release();
  /// The complete frame; valid until the next step().
  BytesView frame() const { return BytesView(buffer_).subspan(prefix_bytes, wanted_ - prefix_bytes); }

 private:
  static constexpr std::size_t prefix_bytes = 8, small_bytes = 4096;
  void drop_frame();
  Progress look();
  Bytes buffer_;
  std::size_t have_ = 0;
  std::size_t wanted_ = prefix_bytes;
  bool complete_ = false;
};

}  // namespace culmen
