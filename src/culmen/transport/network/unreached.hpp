// Why a master was not reached, for the user who typed its address.
#pragma once
#include <algorithm>
#include <boost/system/error_code.hpp>
#include <string>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/address.hpp"

namespace culmen {

inline constexpr double longest_try_s = 20;

/// For one attempt to connect, if the patience ends in `left_s`: at least a moment, so that it can succeed.
inline double length_of_try_s(double left_s) { return std::clamp(left_s, 2.0, longest_try_s); }

/// There is no machine with this name: waiting rarely helps.
class UnknownHost : public TransportError {
 public:
  using TransportError::TransportError;
};

/// One clause, without the address. `error`: of Asio, or an errno.
std::string why_unreached(const Address& address, const boost::system::error_code& error);
std::string why_silent(double waited_s);
bool is_unknown_host(const boost::system::error_code& error);
/// The program that answers does not use TLS.
bool is_without_tls(const boost::system::error_code& error);

}  // namespace culmen
