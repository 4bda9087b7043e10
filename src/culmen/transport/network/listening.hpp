// What all transports that listen do alike.
#pragma once
#include <string>
#include <utility>

#include <boost/asio/ip/tcp.hpp>

#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/wire.hpp"

namespace culmen {

/// Binds the acceptor and writes the port that the system chose into the options. Throws InputError.
void open_acceptor(boost::asio::ip::tcp::acceptor& acceptor, ListenOptions& options);

/// Why this greeting is not welcome; empty if it is.
std::string objection_to(const Greeting& said, const ListenOptions& options);

}  // namespace culmen
