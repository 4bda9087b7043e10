// Where a master listens for workers.
#pragma once
#include <cstdint>
#include <string>

namespace culmen {

/// "SCHEME://HOST:PORT", such as "wss://host:7443"; an IPv6 address stands in brackets.
struct Address {
  std::string scheme = "tcp";  ///< its word, in the table of scheme.cpp
  std::string host;
  std::uint16_t port = 0;  ///< 0, for a master only: the system chooses one
  bool operator==(const Address&) const = default;
};

/// Throws InputError that says what is allowed.
Address parse_address(const std::string& text);
std::string to_string(const Address& address);
/// "example.org:7443", "[::1]:7443"
std::string host_and_port(const Address& address);
/// Only programs of this machine reach it. The name "localhost" does; other names are not looked up.
bool is_loopback(const Address& address);
/// With this machine's name as the host, if the address stands for all of its addresses.
Address reachable(Address address);

}  // namespace culmen
