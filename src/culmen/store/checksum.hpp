// The checksum of a row: CRC-32, as in zlib (ISO 3309). Without one, changed bytes of a store would go unnoticed.
#pragma once
#include <boost/crc.hpp>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "culmen/base/bytes.hpp"

namespace culmen {

class Checksum {
 public:
  /// Numbers count as 8 bytes, little-endian. NaN counts as 0 and -0 as 0, because SQLite keeps neither.
  void add(std::uint64_t number) { crc_.process_bytes(&number, sizeof number); }
  void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(double number) {
    const double kept = std::isnan(number) ? 0.0 : number + 0.0;
    crc_.process_bytes(&kept, sizeof kept);
  }
  /// The length as a number, then the bytes.
  void add(BytesView bytes) {
    add(std::uint64_t{bytes.size()});
    crc_.process_bytes(bytes.data(), bytes.size());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }

  std::int64_t value() const { return crc_.checksum(); }

 private:
  boost::crc_32_type crc_;
};

template <class... Values>
std::int64_t crc_of(const Values&... values) {
  Checksum checksum;
  (checksum.add(values), ...);
  return checksum.value();
}

}  // namespace culmen
