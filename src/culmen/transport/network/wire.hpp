// Frames as bytes of a stream: u32 length of head and body | head | body.
#pragma once
#include "culmen/base/error.hpp"
#include "culmen/transport/network/work.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

/// Frames of the connection itself, which engine and worker never see.
inline constexpr auto greeting = static_cast<FrameKind>(101);  ///< worker -> master, the first frame: see Greeting
inline constexpr auto welcome = static_cast<FrameKind>(102);   ///< master -> worker: it may work
inline constexpr auto refusal = static_cast<FrameKind>(103);  ///< master -> worker: why it may not (a clause, "it …")
inline constexpr auto bye = static_cast<FrameKind>(104);      ///< master -> worker: the study has ended; back: it knows
inline constexpr auto farewell = static_cast<FrameKind>(107);   ///< master -> worker: as refusal, but it may come again
inline constexpr auto life_sign = static_cast<FrameKind>(108);  ///< master -> worker: say that you live; back: it lives

// With a connection for each item:
inline constexpr auto visit = static_cast<FrameKind>(105);   ///< worker -> master, the first frame: see Visit
inline constexpr auto answer = static_cast<FrameKind>(106);  ///< master -> worker, the first frame: see Answer

inline constexpr std::size_t frame_prefix_bytes = sizeof(std::uint32_t) + sizeof(FrameHead);
inline constexpr std::size_t greeting_bytes = 4096;                      ///< the longest frame before the welcome
inline constexpr std::size_t network_body_bytes = std::size_t{1} << 30;  ///< the longest body after it

/// Of a frame that is no evaluation's.
FrameHead head_of(FrameKind kind);

/// A worker's first message when it has connected.
struct Greeting {
  std::string token;
  Work work;
  std::string who;  ///< host and process, for messages
  std::string version = CULMEN_VERSION;
};

Bytes encode(const Greeting& greeting);
/// Of another version of culmen, only the version is read. Throws Error on bytes that are no greeting.
Greeting decode_greeting(BytesView in);

/// A worker's first message on each connection of tcp-per-item, in place of a greeting. Its frames follow. Both sides
/// number the frames that they send to each other from 0, and repeat those that the other side has not confirmed.
struct Visit {
  Greeting greeting{};
  std::uint64_t worker = nobody;  ///< the number that it was given
  std::uint64_t received = 0;     ///< frames that it has received so far
  std::uint64_t first = 0;        ///< number of the first frame that follows
  std::uint64_t frames = 0;       ///< that follow
  bool waits = false;             ///< it has nothing to do until a frame comes
  bool leaves = false;            ///< this is its last visit
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
};

/// The frames of the master follow. Then it ends the connection.
struct Answer {
  std::uint64_t worker = 0;    ///< the number of the worker from now on
  std::uint64_t received = 0;  ///< frames of this worker that the master has received so far
  std::uint64_t first = 0;     ///< number of the first frame that follows
  std::uint64_t frames = 0;    ///< that follow
};

Bytes encode(const Visit& said);
/// Of another version of culmen, only the version is read. Throws Error on bytes that are no visit.
Visit decode_visit(BytesView in);
Bytes encode(const Answer& said);
/// Throws Error on bytes that are no answer.
Answer decode_answer(BytesView in);

/// Of a frame whose body follows separately.
void append_prefix(Bytes& out, const FrameHead& head, std::size_t body_bytes);
void append_frame(Bytes& out, const FrameHead& head, BytesView body);

/// The whole frames at the beginning of a block of bytes, up to one that is too long.
struct WholeFrames {
  std::size_t bytes = 0;  ///< of all whole frames together
  std::size_t next = 0;   ///< of the frame after them, with its prefix; 0: not known yet
};
class FrameTooLong : public Error {
 public:
  using Error::Error;
};
/// Throws Error if the first frame that is not whole is shorter than its head, and FrameTooLong if the first frame of
/// all has a body longer than most_body_bytes.
WholeFrames whole_frames(BytesView in, std::size_t most_body_bytes);

/// Takes the first frame off a block of whole frames; false if the block is empty.
bool next_frame(BytesView& block, FrameHead& head, BytesView& body);

}  // namespace culmen
