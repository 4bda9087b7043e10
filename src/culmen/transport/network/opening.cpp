#include "culmen/transport/network/opening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {
constexpr std::array methods{"GET ", "HEAD", "POST", "PUT ", "OPTI", "DELE", "CONN", "TRAC", "PATC"};
constexpr std::size_t method_bytes = 4;

bool is_method(BytesView first) {
  return std::ranges::any_of(methods, [&](const char* m) { return std::memcmp(first.data(), m, method_bytes) == 0; });
}

Opening opening_of_frame(BytesView first) {
  FrameHead head;
  std::memcpy(&head, first.data() + sizeof(std::uint32_t), sizeof head);
  if (head.kind == greeting) return Opening::greeting;
  return head.kind == visit ? Opening::visit : Opening::unknown;
}
}  // namespace

Opening opening_of(BytesView first) {
  // RFC 8446, 5.1: a record begins with its type, 22 for a handshake, and the version 3.1 or 3.3. The length of a frame
  // may begin alike, but is too short for a third byte.
  if (first.size() >= 3 && first[0] == std::byte{22} && first[1] == std::byte{3} && first[2] != std::byte{0})
    return Opening::tls;
  if (first.size() >= method_bytes && is_method(first)) return Opening::http;
  return first.size() >= frame_prefix_bytes ? opening_of_frame(first) : Opening::unknown;
}

namespace {
Bytes page_of(const char* status, const std::string& sentence) {
  const auto text = fmt::format(
      "HTTP/1.1 {}\r\nServer: culmen\r\nContent-Type: text/plain\r\nConnection: close\r\n"
      "Content-Length: {}\r\n\r\n{}",
      status, sentence.size(), sentence);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

bool has_frames(Opening opening) { return opening == Opening::greeting || opening == Opening::visit; }

Bytes frame_with(FrameKind kind, const std::string& sentence) {
  Bytes out;
  append_frame(out, head_of(kind), std::as_bytes(std::span(sentence)));
  return out;
}
}  // namespace

Bytes refusal_for(Opening opening, const std::string& sentence) {
  return has_frames(opening) ? frame_with(refusal, sentence) : page_of("400 Bad Request", sentence);
}

Bytes farewell_for(Opening opening, const std::string& sentence) {
  if (opening == Opening::tls) return {};
  return has_frames(opening) ? frame_with(farewell, sentence) : page_of("408 Request Timeout", sentence);
}

}  // namespace culmen
