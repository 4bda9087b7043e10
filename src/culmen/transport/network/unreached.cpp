#include "culmen/transport/network/unreached.hpp"

#include <fmt/format.h>

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

namespace culmen {
namespace error = boost::asio::error;

bool is_unknown_host(const boost::system::error_code& e) { return e == error::host_not_found || e == error::no_data; }

bool is_without_tls(const boost::system::error_code& e) {
  constexpr std::array reasons{SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG};
  return e.category() == error::get_ssl_category() &&
         std::ranges::find(reasons, ERR_GET_REASON(static_cast<unsigned long>(e.value()))) != reasons.end();
}

std::string why_silent(double waited_s) {
  return fmt::format(
      "no answer within {:.3g} s; check the host and the port, and whether a firewall is between the machines",
      waited_s);
}

std::string why_unreached(const Address& address, const boost::system::error_code& e) {
  if (is_unknown_host(e))
    return fmt::format("this machine knows no host '{}'; check its name, or give its IP address", address.host);
  if (e == error::connection_refused)
    return "connection refused: no run listens there; start the run first, or check the host and the port";
  if (e == error::eof || e == error::connection_reset) return "the master ended the connection";
  if (e == error::timed_out || e == error::host_unreachable || e == error::network_unreachable)
    return fmt::format("{}; check the host and the port, and whether a firewall is between the machines", e.message());
  return e.message();
}

}  // namespace culmen
