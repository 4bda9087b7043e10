#include "culmen/transport/network/kinds.hpp"

namespace culmen {

std::unique_ptr<OpenTransport> make_open_transport(ListenOptions options) {
  if (options.address.scheme == Scheme::tcp_per_item) return make_per_item_transport(std::move(options));
  return make_network_transport(std::move(options));
}

std::unique_ptr<JoinedEndpoint> join_master(JoinOptions options) {
  if (options.address.scheme == Scheme::tcp_per_item) return make_per_item_endpoint(std::move(options));
  return make_network_endpoint(std::move(options));
}

}  // namespace culmen
