// Candidates and outcomes: any bytes are an Error, or decode to something that encodes to what decodes alike.
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"

namespace {

template <class T>
void round_trip(culmen::BytesView in) {
  T value, again;
  try {
    culmen::decode(in, value);
  } catch (const culmen::Error&) {
    return;
  }
  culmen::Bytes first, second;
  culmen::encode(value, first);
  culmen::decode(first, again);
  culmen::encode(again, second);
  if (first != second) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const culmen::BytesView in(reinterpret_cast<const std::byte*>(data), size);
  round_trip<culmen::Candidate>(in);
  round_trip<culmen::Outcome>(in);
  return 0;
}
