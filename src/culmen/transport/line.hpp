// Messages between nodes: between the master and relays, each of which serves the workers of another node, or between
// relays.
#pragma once
#include <cstddef>

#include "culmen/base/bytes.hpp"

namespace culmen {

/// If there are more nodes, the master talks to some of the relays only, and these to the others.
inline constexpr std::size_t most_flat_nodes = 256;

enum class LineEnd : unsigned char {
  upper,  ///< the master's, or that of a relay with relays behind it
  lower,  ///< a relay's
};

/// Messages arrive whole, once and in order. No call waits. One thread calls everything.
class Line {
 public:
  static constexpr std::size_t largest_message = std::size_t{128} << 10;

  virtual ~Line() = default;
  /// Copies the message, at most largest_message, and sends it. The processes at the other ends of this line have the
  /// numbers 0, 1, … False: former messages to this peer are still on their
  /// way out, and this one was not sent.
  virtual bool send(std::size_t peer, BytesView message) = 0;
  /// The next message, valid until the next call. False: there is none.
  virtual bool receive(std::size_t& peer, BytesView& message) = 0;
  /// No message of this side is still on its way out.
  virtual bool idle() = 0;
};

}  // namespace culmen
