#include "culmen/base/bytes.hpp"

#include <sys/mman.h>

#include "culmen/base/error.hpp"

namespace culmen {

void make_room(Bytes& buffer, std::size_t bytes) {
  constexpr std::size_t large = std::size_t{4} << 20, page = 4096;
  if (bytes <= buffer.capacity()) return;
  buffer.reserve(bytes);
  if (bytes < large) return;
  const auto until_page = page - reinterpret_cast<std::uintptr_t>(buffer.data()) % page;
  madvise(buffer.data() + until_page, buffer.capacity() - until_page, MADV_HUGEPAGE);
}

BytesView ByteReader::take(std::size_t n) {
  if (n > left())
    throw Error("a message ended early: it needs " + std::to_string(n) + " bytes, but has " + std::to_string(left()));
  auto view = in_.subspan(at_, n);
  at_ += n;
  return view;
}

std::uint8_t ByteReader::at_most(std::uint8_t last, const char* what) {
  const auto v = u8();
  if (v <= last) return v;
  throw Error(std::string("a message names ") + what + " " + std::to_string(v) + "; this build knows 0 to " +
              std::to_string(last));
}

std::size_t ByteReader::count(std::size_t item_bytes) {
  const auto n = u64();
  if (n > left() / item_bytes) throw Error("a message names " + std::to_string(n) + " items, more than it contains");
  return n;
}

void ByteReader::doubles(std::vector<double>& out) {
  out.resize(count(sizeof(double)));
  const auto bytes = take(out.size() * sizeof(double));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
}

std::vector<double> ByteReader::doubles() {
  std::vector<double> out;
  doubles(out);
  return out;
}

std::string ByteReader::text() { return text_in(take(count(1))); }

Bytes ByteReader::blob() {
  const auto bytes = blob_view();
  Bytes out;
  make_room(out, bytes.size());
  out.assign(bytes.begin(), bytes.end());
  return out;
}

}  // namespace culmen
