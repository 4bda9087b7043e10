#include "culmen/base/bytes.hpp"

#include "culmen/base/error.hpp"

namespace culmen {

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
  const auto bytes = take(count(1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace culmen
