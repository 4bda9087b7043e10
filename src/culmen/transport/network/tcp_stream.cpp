// Frames over plain TCP.
#include "culmen/transport/network/kinds.hpp"

#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(tcp::socket socket) : socket_(std::move(socket)) { set_up(); }
  asio::awaitable<void> open() override { co_return; }
  asio::awaitable<std::size_t> read_some(asio::mutable_buffer to) override {
    co_return co_await socket_.async_read_some(to, use_awaitable);
  }
  asio::awaitable<void> write(asio::const_buffer from) override {
    co_await asio::async_write(socket_, from, use_awaitable);
  }
  std::size_t read_now(asio::mutable_buffer to) override { return socket_.read_some(to); }
  std::size_t read_what_came(asio::mutable_buffer to) override { return can_be_read() ? read_now(to) : 0; }
  void write_now(asio::const_buffer from) override { asio::write(socket_, from); }
  asio::any_io_executor executor() override { return socket_.get_executor(); }

 private:
  tcp::socket& socket() override { return socket_; }
  tcp::socket socket_;
};
}  // namespace

std::unique_ptr<ByteStream> make_tcp_stream(StreamRequest request) {
  return std::make_unique<TcpStream>(std::move(request.socket));
}

}  // namespace culmen
