#include "culmen/transport/network/address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <string_view>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/scheme.hpp"

namespace culmen {
namespace {
[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  std::vector<std::string> ways;
  for (const auto& scheme : schemes())
    if (scheme.is_suggested) ways.push_back(fmt::format("{}://HOST:PORT", scheme.word));
  const auto last = std::move(ways.back());
  ways.pop_back();
  throw InputError(fmt::format("'{}' is not an address: {}; write {} or {}", text, why, fmt::join(ways, ", "), last));
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
  address.scheme = all.substr(0, colon);
  if (find_scheme(address.scheme) == nullptr)
    refuse(text, fmt::format("'{}' is not a way to reach workers", address.scheme));
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

std::string host_and_port(const Address& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return is_v6 ? fmt::format("[{}]:{}", address.host, address.port) : fmt::format("{}:{}", address.host, address.port);
}

std::string to_string(const Address& address) { return address.scheme + "://" + host_and_port(address); }

bool is_loopback(const Address& address) {
  boost::system::error_code error;
  const auto number = boost::asio::ip::make_address(address.host, error);
  return error ? address.host == "localhost" : number.is_loopback();
}

Address reachable(Address address) {
  std::array<char, 256> name{};
  const bool all = address.host == "0.0.0.0" || address.host == "::";
  if (all && gethostname(name.data(), name.size() - 1) == 0) address.host = name.data();
  return address;
}

}  // namespace culmen
