#include "culmen/transport/network/address.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::array<std::pair<std::string_view, Scheme>, 4> schemes{
    {{"tcp", Scheme::tcp}, {"ws", Scheme::ws}, {"wss", Scheme::wss}, {"tcp-per-item", Scheme::tcp_per_item}}};

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw InputError(
      fmt::format("'{}' is not an address: {}; write wss://HOST:PORT, ws://HOST:PORT or tcp://HOST:PORT", text, why));
}

Scheme scheme_of(const std::string& text, std::string_view word) {
  for (const auto& [name, scheme] : schemes)
    if (name == word) return scheme;
  refuse(text, fmt::format("'{}' is not a way to reach workers", word));
}

std::uint16_t port_of(const std::string& text, std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size())
    refuse(text, fmt::format("its port '{}' is not a number from 0 to 65535", digits));
  return port;
}
}  // namespace

Address parse_address(const std::string& text) {
  const std::string_view all = text;
  const auto colon = all.find("://");
  if (colon == std::string_view::npos) refuse(text, "it has no '://'");
  Address address;
  address.scheme = scheme_of(text, all.substr(0, colon));
  const auto rest = all.substr(colon + 3);
  const auto before_port = rest.rfind(':');
  if (before_port == std::string_view::npos || before_port < rest.find(']') + 1) refuse(text, "it has no port");
  auto host = rest.substr(0, before_port);
  address.port = port_of(text, rest.substr(before_port + 1));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) refuse(text, "it has no host");
  address.host = host;
  return address;
}

std::string to_string(const Address& address) {
  const auto word = schemes.at(static_cast<std::size_t>(address.scheme)).first;
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("{}://[{}]:{}", word, address.host, address.port)
               : fmt::format("{}://{}:{}", word, address.host, address.port);
}

}  // namespace culmen
