#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/network_endpoint.hpp"
#include "culmen/transport/network/network_transport.hpp"
#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/per_item_endpoint.hpp"
#include "culmen/transport/network/per_item_transport.hpp"

namespace culmen {

std::unique_ptr<OpenTransport> make_open_transport(ListenOptions options) {
  if (options.address.scheme == Scheme::tcp_per_item) return std::make_unique<PerItemTransport>(std::move(options));
  return std::make_unique<NetworkTransport>(std::move(options));
}

std::unique_ptr<JoinedEndpoint> join_master(JoinOptions options) {
  if (options.address.scheme == Scheme::tcp_per_item) return std::make_unique<PerItemEndpoint>(std::move(options));
  return std::make_unique<NetworkEndpoint>(std::move(options));
}

}  // namespace culmen
