// Where a master listens for workers.
#pragma once
#include <cstdint>
#include <string>

namespace culmen {

enum class Scheme : unsigned char {
  tcp,           ///< plain
  ws,            ///< WebSocket, plain
  wss,           ///< WebSocket over TLS
  tcp_per_item,  ///< plain, with a connection for each item: slow, the baseline of benchmarks
};

/// "tcp://HOST:PORT", "ws://HOST:PORT" or "wss://HOST:PORT"; an IPv6 address stands in brackets.
struct Address {
  Scheme scheme = Scheme::tcp;
  std::string host;
  std::uint16_t port = 0;  ///< 0, for a master only: the system chooses one
  bool operator==(const Address&) const = default;
};

/// Throws InputError that says what is allowed.
Address parse_address(const std::string& text);
std::string to_string(const Address& address);

}  // namespace culmen
