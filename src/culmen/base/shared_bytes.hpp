// Bytes with several owners.
#pragma once
#include <algorithm>
#include <memory>
#include <utility>

#include "culmen/base/bytes.hpp"
#include "culmen/base/held_file.hpp"

namespace culmen {

/// Bytes that do not change. Copies share them, because a function with the data that it captures can be large.
class SharedBytes {
 public:
  SharedBytes() = default;
  /// `file`: what the bytes name. It stays open as long as they exist here.
  SharedBytes(Bytes bytes, std::shared_ptr<const HeldFile> file = {})
      : bytes_(std::make_shared<const Bytes>(std::move(bytes))), file_(std::move(file)) {}
  operator BytesView() const { return bytes_ ? BytesView(*bytes_) : BytesView(); }
  bool empty() const { return BytesView(*this).empty(); }
  std::size_t size() const { return BytesView(*this).size(); }
  bool operator==(const SharedBytes& other) const { return std::ranges::equal(BytesView(*this), BytesView(other)); }

 private:
  std::shared_ptr<const Bytes> bytes_;
  std::shared_ptr<const HeldFile> file_;
};

}  // namespace culmen
