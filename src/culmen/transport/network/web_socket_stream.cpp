// Frames in messages of WebSocket, over plain TCP or over TLS.
#include <fmt/format.h>
#include <openssl/x509.h>

#include <chrono>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/unreached.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

namespace culmen {
namespace {
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
namespace websocket = beast::websocket;
using asio::use_awaitable;
using asio::ip::tcp;

/// The socket below WebSocket and TLS. Both of them keep bytes that they have read in advance. Only an attempt to read
/// shows that they have none. If this attempt may not wait, it ends here, because both take an error code for the end.
class LowestStream : public beast::tcp_stream {
 public:
  struct NothingCame {};

  explicit LowestStream(tcp::socket socket) : beast::tcp_stream(std::move(socket)) {}
  template <class Buffers>
  std::size_t read_some(const Buffers& to, boost::system::error_code& failed) {
    if (!may_wait && !can_be_read(socket().native_handle())) throw NothingCame();
    return beast::tcp_stream::read_some(to, failed);
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& to) {
    boost::system::error_code failed;
    const auto n = read_some(to, failed);
    if (failed) throw boost::system::system_error(failed);
    return n;
  }
  bool may_wait = true;
};

void teardown(beast::role_type role, LowestStream& stream, boost::system::error_code& failed) {
  websocket::teardown(role, stream.socket(), failed);
}
template <class Handler>
void async_teardown(beast::role_type role, LowestStream& stream, Handler&& handler) {
  websocket::async_teardown(role, stream.socket(), std::forward<Handler>(handler));
}

constexpr std::uint32_t longest_header = 8192;  // of a request, in bytes

/// Over plain TCP, or over TLS.
template <class Under>
class WebSocketStream : public ByteStream {
 public:
  /// `pages`: for a master.
  template <class... Arguments>
  WebSocketStream(const StreamRequest& request, Arguments&&... under)
      : side_(request.side), host_(request.host), pages_(request.pages), stream_(std::forward<Arguments>(under)...) {
    set_up();
    stream_.binary(true);
    stream_.auto_fragment(false);
    stream_.read_message_max(0);  // a message is a batch of frames, whose lengths are checked
    auto limits = websocket::stream_base::timeout::suggested(side_ == Side::master ? beast::role_type::server
                                                                                   : beast::role_type::client);
    limits.keep_alive_pings = true;
    if (side_ == Side::master) limits.idle_timeout = span_of(request.silence_s);
    stream_.set_option(limits);
  }
  asio::awaitable<void> open() override {
    if (side_ == Side::master) co_await accept();
    else co_await ask();
  }
  asio::awaitable<std::size_t> read_some(asio::mutable_buffer to) override {
    std::size_t n = 0;
    while (n == 0) n = co_await stream_.async_read_some(to, use_awaitable);
    co_return n;
  }
  asio::awaitable<void> write(asio::const_buffer from) override { co_await stream_.async_write(from, use_awaitable); }
  std::size_t read_now(asio::mutable_buffer to) override {
    std::size_t n = 0;
    while (n == 0) n = stream_.read_some(to);
    return n;
  }
  std::size_t read_what_came(asio::mutable_buffer to) override {
    auto& lowest = beast::get_lowest_layer(stream_);
    lowest.may_wait = false;
    std::size_t n = 0;
    try {
      n = read_now(to);
    } catch (const LowestStream::NothingCame&) {
    } catch (...) {
      lowest.may_wait = true;
      throw;
    }
    lowest.may_wait = true;
    return n;
  }
  void write_now(asio::const_buffer from) override { stream_.write(from); }
  asio::any_io_executor executor() override { return stream_.get_executor(); }
  bool asks_for_life() const override { return true; }

 private:
  asio::awaitable<void> ask() {
    websocket::response_type answer;
    boost::system::error_code failed;
    co_await stream_.async_handshake(answer, host_, "/", asio::redirect_error(use_awaitable, failed));
    if (!failed) co_return;
    if (failed == websocket::error::upgrade_declined && answer[http::field::server] == "culmen") {
      if (answer.result() == http::status::request_timeout) throw Error(answer.body());
      throw InputError(answer.body());
    }
    if (failed == websocket::error::upgrade_declined ||
        failed.category() == http::make_error_code(http::error::bad_version).category())
      throw InputError("what answers there is no culmen run; give the address that the run prints");
    throw boost::system::system_error(failed);
  }
  asio::awaitable<void> accept() {
    beast::flat_buffer buffer;
    http::request_parser<http::empty_body> parser;
    parser.header_limit(longest_header);
    boost::system::error_code failed;
    co_await http::async_read_header(stream_.next_layer(), buffer, parser, asio::redirect_error(use_awaitable, failed));
    if (failed) {
      co_await explain(failed);
      throw boost::system::system_error(failed);
    }
    const auto& request = parser.get();
    if (websocket::is_upgrade(request)) co_return co_await stream_.async_accept(request, use_awaitable);
    const auto response = page_for(request);
    co_await http::async_write(stream_.next_layer(), response, use_awaitable);
    throw InputError("it wanted a web page");
  }
  /// Why the request is not read to its end.
  asio::awaitable<void> explain(boost::system::error_code failed) {
    WebPages::Answer page;
    if (failed == http::error::header_limit)
      page = {431, "text/plain", fmt::format("the header of the request is longer than {} bytes", longest_header)};
    else if (failed == asio::error::operation_aborted) page = {408, "text/plain", "no whole request came in time"};
    else if (failed.category() == http::make_error_code(http::error::bad_version).category())
      page = {400, "text/plain", "this is no request of HTTP/1.1"};
    else co_return;
    constexpr unsigned http_1_1 = 11;
    const auto response = response_of(std::move(page), http_1_1);
    co_await http::async_write(stream_.next_layer(), response, asio::redirect_error(use_awaitable, failed));
    end_writing();
    Bytes dropped(std::size_t{4} << 10);  // bytes that were not read would delete the answer on its way
    while (!failed)
      co_await stream_.next_layer().async_read_some(asio::buffer(dropped.data(), dropped.size()),
                                                    asio::redirect_error(use_awaitable, failed));
  }
  http::response<http::string_body> page_for(const http::request<http::empty_body>& request) const {
    const auto as_std = [](beast::string_view text) { return std::string_view(text.data(), text.size()); };
    auto page = pages_->answer(as_std(request.method_string()), as_std(request.target()),
                               as_std(request[http::field::authorization]));
    return response_of(std::move(page), request.version());
  }
  static http::response<http::string_body> response_of(WebPages::Answer page, unsigned version) {
    http::response<http::string_body> response(static_cast<http::status>(page.code), version, std::move(page.body));
    response.set(http::field::server, "culmen");
    response.set(http::field::content_type, page.type);
    response.set(http::field::cache_control, "no-store");
    response.keep_alive(false);
    response.prepare_payload();
    return response;
  }

 protected:
  tcp::socket& socket() final { return beast::get_lowest_layer(stream_).socket(); }
  Side side_;
  std::string host_;  // with the port
  std::shared_ptr<const WebPages> pages_;
  websocket::stream<Under> stream_;
};
}  // namespace

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
using TlsStream = beast::ssl_stream<LowestStream>;

class SecureStream final : public WebSocketStream<TlsStream> {
 public:
  explicit SecureStream(StreamRequest& request)
      : WebSocketStream(request, std::move(request.socket), request.tls->context), tls_(request.tls) {
    if (side_ == Side::worker) expect_master();
  }
  asio::awaitable<void> open() override {
    boost::system::error_code failed;
    co_await stream_.next_layer().async_handshake(
        side_ == Side::master ? ssl::stream_base::server : ssl::stream_base::client,
        asio::redirect_error(use_awaitable, failed));
    if (!seen_.empty())
      throw InputError(
          fmt::format("the master's certificate has the fingerprint {}, not {}; give the one that the run prints",
                      seen_, tls_->fingerprint));
    const auto verified = SSL_get_verify_result(stream_.next_layer().native_handle());
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
    co_await WebSocketStream::open();
  }

 private:
  void expect_master() {
    const auto name = host_.substr(0, host_.rfind(':'));
    SSL_set_tlsext_host_name(stream_.next_layer().native_handle(), name.c_str());
    if (tls_->fingerprint.empty()) {
      stream_.next_layer().set_verify_callback(ssl::host_name_verification(name));
      return;
    }
    stream_.next_layer().set_verify_callback([this](bool, ssl::verify_context& context) {
      if (X509_STORE_CTX_get_error_depth(context.native_handle()) > 0) return true;  // the pin is on the certificate
      const auto found = fingerprint_of(*X509_STORE_CTX_get_current_cert(context.native_handle()));
      if (found == tls_->fingerprint) return true;
      seen_ = found;
      return false;
    });
  }
  std::shared_ptr<Tls> tls_;
  std::string seen_;  // another fingerprint than the pinned one
};
}  // namespace

std::shared_ptr<Tls> make_tls(const Certificate& of_master) { return std::make_shared<Tls>(of_master); }
std::shared_ptr<Tls> make_tls(const std::string& fingerprint) { return std::make_shared<Tls>(fingerprint); }

std::unique_ptr<ByteStream> make_web_socket_stream(StreamRequest r) {
  return std::make_unique<WebSocketStream<LowestStream>>(r, std::move(r.socket));
}

std::unique_ptr<ByteStream> make_secure_stream(StreamRequest r) { return std::make_unique<SecureStream>(r); }

}  // namespace culmen
