// Bytes of a network worker: any bytes are an Error, or whole frames and a greeting that survive their own encoding.
#include <algorithm>
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const culmen::BytesView in(reinterpret_cast<const std::byte*>(data), size);
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
    if (!std::equal(again.begin(), again.end(), in.begin(), in.end())) std::abort();
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
