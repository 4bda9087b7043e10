#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/scheme.hpp"

namespace culmen {

std::unique_ptr<OpenTransport> make_open_transport(ListenOptions options) {
  const auto& scheme = scheme_named(options.address.scheme);
  return scheme.listen(std::move(options));
}

std::unique_ptr<JoinedEndpoint> make_joined_endpoint(JoinOptions options) {
  const auto& scheme = scheme_named(options.address.scheme);
  return scheme.join(std::move(options));
}

std::unique_ptr<JoinedEndpoint> join_master(JoinOptions options) {
  auto endpoint = make_joined_endpoint(std::move(options));
  endpoint->join();
  return endpoint;
}

}  // namespace culmen
