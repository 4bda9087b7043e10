// Little-endian encoding. The reader checks every bound: its bytes may come from shared memory or a socket.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culmen {

static_assert(std::endian::native == std::endian::little, "culmen's wire and file formats are little-endian");

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

/// The bytes as characters.
inline std::string text_in(BytesView bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// For a buffer that is reused: frees its memory if its last content was unusually large.
inline void clear(Bytes& buffer) {
  constexpr std::size_t usual = std::size_t{1} << 20;
  if (buffer.capacity() > usual) Bytes().swap(buffer);
  buffer.clear();
}

/// As reserve(). The first use of each page of a large block costs more than copying it, so the system is asked for
/// huge pages.
void make_room(Bytes& buffer, std::size_t bytes);

/// Appends to a buffer that it does not own.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}
  void u8(std::uint8_t v) { raw(&v, sizeof v); }
  void u32(std::uint32_t v) { raw(&v, sizeof v); }
  void u64(std::uint64_t v) { raw(&v, sizeof v); }
  void f64(double v) { raw(&v, sizeof v); }
  /// u64 count, then the doubles.
  void doubles(std::span<const double> v) {
    u64(v.size());
    raw(v.data(), v.size_bytes());
  }
  /// u64 length, then the bytes.
  void text(std::string_view v) {
    u64(v.size());
    raw(v.data(), v.size());
  }
  void blob(BytesView v) {
    u64(v.size());
    raw(v.data(), v.size());
  }
  void raw(const void* data, std::size_t n) {
    constexpr std::size_t large = std::size_t{1} << 20;
    if (n >= large) make_room(out_, out_.size() + n);
    const auto* p = static_cast<const std::byte*>(data);
    out_.insert(out_.end(), p, p + n);
  }

 private:
  Bytes& out_;
};

/// Reads bytes of ByteWriter. Throws culmen::Error if the bytes end early or a count cannot be true.
class ByteReader {
 public:
  explicit ByteReader(BytesView in) : in_(in) {}
  std::uint8_t u8() { return get<std::uint8_t>(); }
  std::uint32_t u32() { return get<std::uint32_t>(); }
  std::uint64_t u64() { return get<std::uint64_t>(); }
  double f64() { return get<double>(); }
  /// An enum member in one byte, at most `last`.
  template <class Enum>
  Enum member(Enum last, const char* what) {
    return static_cast<Enum>(at_most(static_cast<std::uint8_t>(last), what));
  }
  void doubles(std::vector<double>& out);
  std::vector<double> doubles();
  std::string text();
  Bytes blob();
  BytesView blob_view() { return take(count(1)); }
  BytesView take(std::size_t n);
  std::size_t left() const { return in_.size() - at_; }

 private:
  template <class T>
  T get() {
    T v;
    std::memcpy(&v, take(sizeof v).data(), sizeof v);
    return v;
  }
  std::uint8_t at_most(std::uint8_t last, const char* what);
  std::size_t count(std::size_t item_bytes);
  BytesView in_;
  std::size_t at_ = 0;
};

}  // namespace culmen
