// The bytes of a stream, cut into blocks of whole frames.
#pragma once
#include <span>

#include "culmen/base/bytes.hpp"

namespace culmen {

class Incoming {
 public:
  /// Whole frames, all that are there; empty: there is none. Throws Error as whole_frames() does.
  Bytes take(std::size_t most_body_bytes);
  /// Where the next bytes of the stream go; after take() has returned nothing.
  std::span<std::byte> room();
  /// A part of a frame is there.
  bool has_begun() const { return filled_ > 0; }
  /// This number of bytes has been read into the space.
  void filled(std::size_t bytes);

 private:
  Bytes take_block(std::size_t bytes);
  Bytes buffer_;             // begins with the bytes that were read
  std::size_t filled_ = 0;   // bytes of it that were read
  std::size_t next_ = 0;     // of the first frame; 0: not known yet
  std::size_t room_ = 4096;  // for reading; grows if more comes at a time
};

}  // namespace culmen
