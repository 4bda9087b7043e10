#include "culmen/transport/network/listening.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/web_pages.hpp"

namespace culmen {
namespace {
using boost::asio::ip::tcp;
}  // namespace

void open_acceptor(tcp::acceptor& acceptor, ListenOptions& options) {
  try {
    tcp::resolver resolver(acceptor.get_executor());
    const auto found = resolver.resolve(options.address.host, std::to_string(options.address.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service);
    const auto endpoint = found.begin()->endpoint();
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(tcp::acceptor::max_listen_connections);
    options.address.port = acceptor.local_endpoint().port();
  } catch (const boost::system::system_error& e) {
    throw InputError(fmt::format("cannot listen at {}: {}; give another address, or port 0 for any free one",
                                 to_string(options.address), e.code().message()));
  }
}

std::string objection_to(const Greeting& said, const ListenOptions& options) {
  if (!same_secret(said.token, options.token)) return "its token is not the one of this study";
  if (said.work != options.work) return "it was started with another study";
  return {};
}

}  // namespace culmen
