// Bytes of a network worker: any bytes are an Error, or whole frames and a greeting that survive their own encoding.
// Frames are the same whatever the pieces in which their bytes come. Of a handshake: how a connection begins, and what
// a browser gets, with and without a token.
#include <algorithm>
#include <cstdlib>

#include <optional>
#include <random>
#include <string>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/incoming.hpp"
#include "culmen/transport/network/opening.hpp"
#include "culmen/transport/network/web_pages.hpp"
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

/// More bytes do not change what a connection is, once it is known.
void check_opening(culmen::BytesView in) {
  const auto opening = culmen::opening_of(in.first(std::min(in.size(), culmen::opening_bytes)));
  for (std::size_t n = 0; n < std::min(in.size(), culmen::opening_bytes); ++n) {
    const auto before = culmen::opening_of(in.first(n));
    if (before != culmen::Opening::unknown && before != opening) std::abort();
  }
  const std::string text(reinterpret_cast<const char*>(in.data()), std::min<std::size_t>(in.size(), 1000));
  if (culmen::refusal_for(opening, text).size() > text.size() + 1000) std::abort();
  if (culmen::farewell_for(opening, text).size() > text.size() + 1000) std::abort();
}

/// The three words of a request, as Beast has parsed it.
void check_pages(const std::string& text) {
  const auto first = text.find('\n'), second = first == text.npos ? first : text.find('\n', first + 1);
  const auto method = text.substr(0, first);
  const auto target = first == text.npos ? "" : text.substr(first + 1, second - first - 1);
  const auto authorization = second == text.npos ? "" : text.substr(second + 1);
  const culmen::WebPages guarded("secret", [] { return std::string("{}"); });
  const auto answer = guarded.answer(method, target, authorization);
  const bool knows = authorization.size() == 13 && authorization.ends_with(" secret");
  if (answer.body == "{}\n" && !knows) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const culmen::BytesView in(reinterpret_cast<const std::byte*>(data), size);
  check_pieces(in);
  check_opening(in);
  check_pages(std::string(reinterpret_cast<const char*>(data), size));
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
