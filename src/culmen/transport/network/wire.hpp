// Frames as bytes of a stream: u32 length of head and body | head | body.
#pragma once
#include "culmen/transport/transport.hpp"

namespace culmen {

/// Frames of the connection itself, which engine and worker never see.
inline constexpr auto greeting = static_cast<FrameKind>(101);  ///< worker -> master, the first frame: see Greeting
inline constexpr auto welcome = static_cast<FrameKind>(102);   ///< master -> worker: it may work
inline constexpr auto refusal = static_cast<FrameKind>(103);   ///< master -> worker: why it may not (a sentence)
inline constexpr auto bye = static_cast<FrameKind>(104);       ///< master -> worker: the study has ended

inline constexpr std::size_t frame_prefix_bytes = sizeof(std::uint32_t) + sizeof(FrameHead);
inline constexpr std::size_t greeting_bytes = 4096;                      ///< the longest frame before the welcome
inline constexpr std::size_t network_body_bytes = std::size_t{1} << 30;  ///< the longest body after it

/// Of a frame that is no evaluation's.
FrameHead head_of(FrameKind kind);

/// What a worker says when it has connected.
struct Greeting {
  std::string token;
  std::uint64_t work = 0;  ///< digest of the work that both were started with
  std::string who;         ///< host and process, for messages
};

Bytes encode(const Greeting& greeting);
/// Throws Error on bytes that are no greeting of this version.
Greeting decode_greeting(BytesView in);

void append_frame(Bytes& out, const FrameHead& head, BytesView body);

/// The whole frames at the beginning of a block of bytes.
struct WholeFrames {
  std::size_t bytes = 0;  ///< of all whole frames together
  std::size_t next = 0;   ///< of the frame after them, with its prefix; 0: not known yet
};
/// Throws Error if a frame is shorter than its head, or its body longer than most_body_bytes.
WholeFrames whole_frames(BytesView in, std::size_t most_body_bytes);

/// Takes the first frame off a block of whole frames; false if the block is empty.
bool next_frame(BytesView& block, FrameHead& head, BytesView& body);

}  // namespace culmen
