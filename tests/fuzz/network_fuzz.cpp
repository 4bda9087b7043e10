// Bytes of a network worker: any bytes are an Error, or whole frames and a greeting that survive their own encoding.
// Frames are the same whatever the pieces in which their bytes come.
#include <algorithm>
#include <cstdlib>

#include <optional>
#include <random>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/incoming.hpp"
#include "culmen/transport/network/wire.hpp"

namespace {

/// The frames in a stream of which at most `piece()` bytes come at a time; none: it has an error.
template <class Piece>
std::optional<culmen::Bytes> frames_of(culmen::BytesView stream, Piece piece) {
  culmen::Incoming incoming;
  culmen::Bytes frames;
  try {
    while (true) {
      const auto block = incoming.take(culmen::greeting_bytes);
      frames.insert(frames.end(), block.begin(), block.end());
      if (!block.empty()) continue;
      if (stream.empty()) return frames;
      const auto room = incoming.room();
      const auto n = std::min({room.size(), stream.size(), piece()});
      if (n == 0) std::abort();
      std::copy_n(stream.begin(), n, room.begin());
      incoming.filled(n);
      stream = stream.subspan(n);
    }
  } catch (const culmen::Error&) {
    return std::nullopt;
  }
}

void check_pieces(culmen::BytesView stream) {
  const auto whole = frames_of(stream, [&] { return stream.size(); });
  std::minstd_rand dice(static_cast<unsigned>(stream.size()));
  for (const std::size_t most : {std::size_t{3}, std::size_t{64}, stream.size() / 2 + 1})
    if (frames_of(stream, [&] { return 1 + dice() % most; }) != whole) std::abort();
  if (whole && !std::equal(whole->begin(), whole->end(), stream.begin())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const culmen::BytesView in(reinterpret_cast<const std::byte*>(data), size);
  check_pieces(in);
  try {
    const auto whole = culmen::whole_frames(in, culmen::greeting_bytes);
    auto rest = in.first(whole.bytes);
    culmen::Bytes again;
    culmen::FrameHead head;
    culmen::BytesView body;
    while (culmen::next_frame(rest, head, body)) culmen::append_frame(again, head, body);
    if (!std::equal(again.begin(), again.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(whole.bytes)))
      std::abort();
  } catch (const culmen::Error&) {
  }
  try {
    const auto greeting = culmen::decode_greeting(in);
    const auto again = culmen::encode(greeting);
    const bool is_whole = greeting.version == CULMEN_VERSION;  // of another version, only the version is read
    if (is_whole && !std::equal(again.begin(), again.end(), in.begin(), in.end())) std::abort();
  } catch (const culmen::Error&) {
  }
  try {
    culmen::decode_visit(in);
  } catch (const culmen::Error&) {
  }
  try {
    const auto again = culmen::encode(culmen::decode_answer(in));
    if (!std::equal(again.begin(), again.end(), in.begin(), in.end())) std::abort();
  } catch (const culmen::Error&) {
  }
  return 0;
}
