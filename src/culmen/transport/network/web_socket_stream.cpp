// Frames in messages of WebSocket, over plain TCP or over TLS.
#include <fmt/format.h>

#include <chrono>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/lower_stream.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>

namespace culmen {
namespace {
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using asio::use_awaitable;

constexpr std::uint32_t longest_header = 8192;  // of a request, in bytes

class WebSocketStream final : public ByteStream {
 public:
  /// `pages`: for a master.
  WebSocketStream(const StreamRequest& request, std::unique_ptr<LowerStream> lower)
      : side_(request.side), host_(request.host), pages_(request.pages), stream_(std::move(lower)) {
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
    co_await lower().open();
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
    while (n == 0) {
      n = stream_.read_some(to);
      length_ += n;
      lower().held_by_web_socket -= static_cast<std::int64_t>(n);
      if (stream_.is_message_done()) lower().held_by_web_socket -= header_of(std::exchange(length_, 0));
    }
    return n;
  }
  bool seems_readable() override {
    return lower().held_by_web_socket != 0 || lower().held_by_tls != 0 || can_be_read();
  }
  std::size_t read_what_came(asio::mutable_buffer to) override {
    lower().may_wait = false;
    std::size_t n = 0;
    try {
      n = read_now(to);
    } catch (const LowerStream::NothingCame&) {
      lower().held_by_tls = lower().held_by_web_socket = 0;
    } catch (...) {
      lower().may_wait = true;
      throw;
    }
    lower().may_wait = true;
    return n;
  }
  void write_now(asio::const_buffer from) override { stream_.write(from); }
  asio::any_io_executor executor() override { return stream_.get_executor(); }
  bool asks_for_life() const override { return true; }

 private:
  /// Bytes of the header of a message with one frame (RFC 6455, 5.2). Those of workers have a mask.
  std::int64_t header_of(std::size_t length) const {
    return 2 + (length > 65535 ? 8 : length > 125 ? 2 : 0) + (side_ == Side::master ? 4 : 0);
  }
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

  LowerStream& lower() { return stream_.next_layer().lower(); }
  asio::ip::tcp::socket& socket() override { return lower().socket(); }
  Side side_;
  std::string host_;        // with the port
  std::size_t length_ = 0;  // of the message, as far as it was read
  std::shared_ptr<const WebPages> pages_;
  websocket::stream<BeastStream, false> stream_;  // false: nothing is compressed
};
}  // namespace

std::unique_ptr<ByteStream> make_web_socket_stream(StreamRequest request) {
  return std::make_unique<WebSocketStream>(request, make_plain_lower_stream(request));
}

std::unique_ptr<ByteStream> make_secure_stream(StreamRequest request) {
  return std::make_unique<WebSocketStream>(request, make_tls_lower_stream(request));
}

}  // namespace culmen
