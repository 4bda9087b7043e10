// Rows of the journal: any bytes are an Error, or a call that survives its own encoding.
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/store/call_codec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  culmen::CallRecord call;
  call.kind = static_cast<culmen::CallKind>(data[0] % 6);
  try {
    culmen::decode({reinterpret_cast<const std::byte*>(data + 1), size - 1}, call);
  } catch (const culmen::Error&) {
    return 0;
  }
  culmen::Bytes first, second;
  culmen::encode(call, first);
  culmen::CallRecord again;
  again.kind = call.kind;
  culmen::decode(first, again);
  culmen::encode(again, second);
  if (first != second) std::abort();
  return 0;
}
