// The kinds of transports over a network. make_open_transport() and join_master() choose by the scheme of the address.
#pragma once
#include <memory>

#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"

namespace culmen {

/// A connection that stays open.
std::unique_ptr<OpenTransport> make_network_transport(ListenOptions options);
std::unique_ptr<JoinedEndpoint> make_network_endpoint(JoinOptions options);

/// A connection for each item.
std::unique_ptr<OpenTransport> make_per_item_transport(ListenOptions options);
std::unique_ptr<JoinedEndpoint> make_per_item_endpoint(JoinOptions options);

}  // namespace culmen
