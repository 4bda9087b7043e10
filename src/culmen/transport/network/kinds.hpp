// Makers of the transports, endpoints and streams in the table of schemes.
#pragma once
#include <memory>

#include "culmen/transport/network/byte_stream.hpp"
#include "culmen/transport/network/joined_endpoint.hpp"
#include "culmen/transport/network/open_transport.hpp"

namespace culmen {

/// A connection that stays open.
std::unique_ptr<OpenTransport> make_network_transport(ListenOptions options);
std::unique_ptr<JoinedEndpoint> make_network_endpoint(JoinOptions options);

/// A connection for each item.
std::unique_ptr<OpenTransport> make_per_item_transport(ListenOptions options);
std::unique_ptr<JoinedEndpoint> make_per_item_endpoint(JoinOptions options);

std::unique_ptr<ByteStream> make_tcp_stream(StreamRequest request);
std::unique_ptr<ByteStream> make_web_socket_stream(StreamRequest request);
/// WebSocket over TLS.
std::unique_ptr<ByteStream> make_secure_stream(StreamRequest request);

}  // namespace culmen
