// TCP, and TLS over TCP, below WebSocket.
#include <fmt/format.h>
#include <openssl/x509.h>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/lower_stream.hpp"
#include "culmen/transport/network/unreached.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace culmen {

namespace ssl = asio::ssl;

class Tls {
 public:
  explicit Tls(const Certificate& of_master) : context(ssl::context::tls_server) {
    harden();
    boost::system::error_code failed;
    context.use_certificate_chain(asio::buffer(of_master.chain), failed);
    if (!failed) context.use_private_key(asio::buffer(of_master.key), ssl::context::pem, failed);
    if (failed) throw InputError("the certificate cannot be used: " + failed.message());
  }
  explicit Tls(std::string pinned) : context(ssl::context::tls_client), fingerprint(std::move(pinned)) {
    harden();
    context.set_verify_mode(ssl::verify_peer);
    if (fingerprint.empty()) context.set_default_verify_paths();
  }
  ssl::context context;
  std::string fingerprint;

 private:
  void harden() {
    context.set_options(ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  }
};

namespace {
using asio::use_awaitable;
using asio::ip::tcp;
using Error_code = boost::system::error_code;

constexpr std::int64_t record_overhead = 22;  // of TLS 1.3: header, type and tag (RFC 8446, 5.2)

/// The socket of a LowerStream.
class LowestStream : public tcp::socket {
 public:
  LowestStream(tcp::socket socket, LowerStream& above) : tcp::socket(std::move(socket)), above_(above) {}
  template <class Buffers>
  std::size_t read_some(const Buffers& to, Error_code& failed) {
    if (!above_.may_wait && !can_be_read(native_handle())) throw LowerStream::NothingCame();
    const auto bytes = tcp::socket::read_some(to, failed);
    above_.held_by_tls += static_cast<std::int64_t>(bytes);
    return bytes;
  }

 private:
  LowerStream& above_;
};

void teardown(LowerStream::Role role, LowestStream& stream, Error_code& failed) {
  boost::beast::websocket::teardown(role, static_cast<tcp::socket&>(stream), failed);
}
template <class Handler>
void async_teardown(LowerStream::Role role, LowestStream& stream, Handler&& handler) {
  boost::beast::websocket::async_teardown(role, static_cast<tcp::socket&>(stream), std::forward<Handler>(handler));
}

/// `Stream`: one of Asio or Beast.
template <class Stream>
class Wrapped : public LowerStream {
 public:
  template <class... Arguments>
  explicit Wrapped(tcp::socket socket, Arguments&... more) : stream_(LowestStream(std::move(socket), *this), more...) {}
  std::size_t read(const Into& to, Error& failed) override {
    const auto bytes = stream_.read_some(to, failed);
    if (bytes > 0) held_by_tls -= static_cast<std::int64_t>(bytes) + overhead();
    return bytes;
  }
  std::size_t write(const From& from, Error& failed) override { return stream_.write_some(from, failed); }
  void start_reading(const Into& to, Done done) override { stream_.async_read_some(to, std::move(done)); }
  void start_writing(const From& from, Done done) override { stream_.async_write_some(from, std::move(done)); }
  void tear_down(Role role, Error& failed) override {
    using boost::beast::websocket::teardown;
    teardown(role, stream_, failed);
  }
  void start_to_tear_down(Role role, Done done) override {
    using boost::beast::websocket::async_teardown;
    async_teardown(role, stream_, std::move(done));
  }

 protected:
  static constexpr std::int64_t overhead() { return std::is_same_v<Stream, LowestStream> ? 0 : record_overhead; }
  Stream stream_;
};

class PlainLowerStream final : public Wrapped<LowestStream> {
 public:
  using Wrapped::Wrapped;
  tcp::socket& socket() override { return stream_; }
  asio::awaitable<void> open() override { co_return; }
};

class TlsLowerStream final : public Wrapped<boost::beast::ssl_stream<LowestStream>> {
 public:
  explicit TlsLowerStream(StreamRequest& request)
      : Wrapped(std::move(request.socket), request.tls->context),
        side_(request.side),
        host_(request.host.substr(0, request.host.rfind(':'))),
        tls_(request.tls) {
    if (side_ == Side::worker) expect_master();
  }
  tcp::socket& socket() override { return stream_.next_layer(); }
  asio::awaitable<void> open() override {
    Error failed;
    co_await stream_.async_handshake(side_ == Side::master ? ssl::stream_base::server : ssl::stream_base::client,
                                     asio::redirect_error(use_awaitable, failed));
    if (!seen_.empty())
      throw InputError(
          fmt::format("the master's certificate has the fingerprint {}, not {}; give the one that the run prints",
                      seen_, tls_->fingerprint));
    const auto verified = SSL_get_verify_result(stream_.native_handle());
    if (failed && side_ == Side::worker && verified != X509_V_OK)
      throw InputError(
          fmt::format("the master's certificate is not accepted ({}); give the fingerprint that the run prints "
                      "(--fingerprint, or fingerprint in a program)",
                      verified == X509_V_ERR_UNSPECIFIED ? "it is for another host"  // of host_name_verification
                                                         : X509_verify_cert_error_string(verified)));
    if (failed && side_ == Side::worker && is_without_tls(failed))
      throw InputError(
          "what answers there does not use TLS; write ws:// or tcp://, as in the address that the run prints");
    if (failed) throw boost::system::system_error(failed);
  }

 private:
  void expect_master() {
    SSL_set_tlsext_host_name(stream_.native_handle(), host_.c_str());
    if (tls_->fingerprint.empty()) {
      stream_.set_verify_callback(ssl::host_name_verification(host_));
      return;
    }
    stream_.set_verify_callback([this](bool, ssl::verify_context& context) {
      if (X509_STORE_CTX_get_error_depth(context.native_handle()) > 0) return true;  // the pin is on the certificate
      const auto found = fingerprint_of(*X509_STORE_CTX_get_current_cert(context.native_handle()));
      if (found == tls_->fingerprint) return true;
      seen_ = found;
      return false;
    });
  }
  Side side_;
  std::string host_;
  std::shared_ptr<Tls> tls_;
  std::string seen_;  // another fingerprint than the pinned one
};
}  // namespace

std::shared_ptr<Tls> make_tls(const Certificate& of_master) { return std::make_shared<Tls>(of_master); }
std::shared_ptr<Tls> make_tls(const std::string& fingerprint) { return std::make_shared<Tls>(fingerprint); }

std::unique_ptr<LowerStream> make_plain_lower_stream(StreamRequest& request) {
  return std::make_unique<PlainLowerStream>(std::move(request.socket));
}
std::unique_ptr<LowerStream> make_tls_lower_stream(StreamRequest& request) {
  return std::make_unique<TlsLowerStream>(request);
}

}  // namespace culmen
