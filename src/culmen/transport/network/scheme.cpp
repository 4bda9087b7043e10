#include "culmen/transport/network/scheme.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/kinds.hpp"

namespace culmen {
namespace {
constexpr std::array scheme_table{
    Scheme{"wss", true, true, Opening::tls, make_network_transport, make_network_endpoint, make_secure_stream},
    Scheme{"ws", false, true, Opening::http, make_network_transport, make_network_endpoint, make_web_socket_stream},
    Scheme{"tcp", false, true, Opening::greeting, make_network_transport, make_network_endpoint, make_tcp_stream},
    Scheme{"tcp-per-item", false, false, Opening::visit, make_per_item_transport, make_per_item_endpoint,
           make_tcp_stream},
};
}  // namespace

std::span<const Scheme> schemes() noexcept { return scheme_table; }

const Scheme* find_scheme(std::string_view word) noexcept {
  const auto* found = std::ranges::find(scheme_table, word, &Scheme::word);
  return found == scheme_table.end() ? nullptr : found;
}

const Scheme& scheme_named(std::string_view word) {
  if (const auto* found = find_scheme(word)) return *found;
  std::vector<std::string_view> known;
  for (const auto& scheme : scheme_table) known.push_back(scheme.word);
  throw InputError(fmt::format("'{}' is not a way to reach workers; there are {}", word, fmt::join(known, ", ")));
}

}  // namespace culmen
