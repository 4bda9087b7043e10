// The stream below WebSocket: TCP, or TLS over TCP.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>

#include "culmen/transport/network/byte_stream.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/beast/core/role.hpp>
#include <boost/container/static_vector.hpp>

namespace culmen {

/// A completion handler of any type; called at most once.
class Done {
 public:
  using executor_type = asio::any_io_executor;
  template <class Handler>
  Done(Handler handler, const executor_type& of_stream)
      : executor_(asio::get_associated_executor(handler, of_stream)),
        held_(std::make_unique<Of<Handler>>(std::move(handler))) {}
  executor_type get_executor() const noexcept { return executor_; }
  void operator()(boost::system::error_code failed, std::size_t bytes = 0) {
    std::exchange(held_, nullptr).release()->call_and_delete(failed, bytes);
  }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual void call_and_delete(boost::system::error_code failed, std::size_t bytes) = 0;
  };
  template <class Handler>
  struct Of final : Held {
    explicit Of(Handler handler) : handler_(std::move(handler)) {}
    void call_and_delete(boost::system::error_code failed, std::size_t bytes) override {
      auto handler = std::move(handler_);
      delete this;  // its memory is free before the next operation begins
      if constexpr (std::is_invocable_v<Handler, boost::system::error_code, std::size_t>) handler(failed, bytes);
      else handler(failed);
    }
    Handler handler_;
  };
  executor_type executor_;
  std::unique_ptr<Held> held_;
};

/// One type for all streams and all handlers: Beast's operations take long to compile, and so are compiled only once.
/// Thread-safety, and the errors of each function: as of asio::ip::tcp::socket.
class LowerStream {
 public:
  using Error = boost::system::error_code;
  using Into = boost::container::static_vector<asio::mutable_buffer, 8>;
  using From = boost::container::static_vector<asio::const_buffer, 8>;
  using Role = boost::beast::role_type;

  virtual ~LowerStream() = default;
  virtual asio::ip::tcp::socket& socket() = 0;
  /// The handshake of TLS.
  virtual asio::awaitable<void> open() = 0;
  /// If a read may not wait and there is nothing to read, it throws NothingCame. Both TLS and WebSocket keep bytes that
  /// they have read in advance, and take an error code for the end; so only an exception shows that they have none.
  struct NothingCame {};
  bool may_wait = true;
  /// Bytes of the socket that TLS has not given on, as far as the usual overhead of a record tells. Any other number
  /// than 0 may be wrong.
  std::int64_t held_by_tls = 0;
  /// The same for what WebSocket has been given.
  std::int64_t held_by_web_socket = 0;

  virtual std::size_t read(const Into& to, Error& failed) = 0;
  virtual std::size_t write(const From& from, Error& failed) = 0;
  virtual void start_reading(const Into& to, Done done) = 0;
  virtual void start_writing(const From& from, Done done) = 0;
  /// The end of a WebSocket, for the side with this role.
  virtual void tear_down(Role role, Error& failed) = 0;
  virtual void start_to_tear_down(Role role, Done done) = 0;
};

std::unique_ptr<LowerStream> make_plain_lower_stream(StreamRequest& request);
std::unique_ptr<LowerStream> make_tls_lower_stream(StreamRequest& request);

/// A LowerStream with the functions that Beast expects of a stream (its concepts SyncStream and AsyncStream).
class BeastStream {
 public:
  using executor_type = asio::any_io_executor;
  using Error = LowerStream::Error;

  explicit BeastStream(std::unique_ptr<LowerStream> lower) : lower_(std::move(lower)) {}
  LowerStream& lower() { return *lower_; }
  executor_type get_executor() { return lower_->socket().get_executor(); }

  template <class Buffers>
  std::size_t read_some(const Buffers& to, Error& failed) {
    const auto bytes = lower_->read(first_of<LowerStream::Into>(to), failed);
    lower_->held_by_web_socket += static_cast<std::int64_t>(bytes);
    return bytes;
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& from, Error& failed) {
    return lower_->write(first_of<LowerStream::From>(from), failed);
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& to) {
    Error failed;
    return checked(read_some(to, failed), failed);
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& from) {
    Error failed;
    return checked(write_some(from, failed), failed);
  }
  template <class Buffers, class Token>
  typename asio::async_result<std::decay_t<Token>, void(Error, std::size_t)>::return_type async_read_some(
      const Buffers& to, Token&& token) {
    return asio::async_initiate<Token, void(Error, std::size_t)>(
        [this](auto handler, const LowerStream::Into& into) {
          lower_->start_reading(into, Done(std::move(handler), get_executor()));
        },
        token, first_of<LowerStream::Into>(to));
  }
  template <class Buffers, class Token>
  typename asio::async_result<std::decay_t<Token>, void(Error, std::size_t)>::return_type async_write_some(
      const Buffers& from, Token&& token) {
    return asio::async_initiate<Token, void(Error, std::size_t)>(
        [this](auto handler, const LowerStream::From& of) {
          lower_->start_writing(of, Done(std::move(handler), get_executor()));
        },
        token, first_of<LowerStream::From>(from));
  }

 private:
  static std::size_t checked(std::size_t bytes, Error failed) {
    if (failed) throw boost::system::system_error(failed);
    return bytes;
  }
  /// As many as there is room for: an operation may read or write less than it could.
  template <class Few, class Buffers>
  static Few first_of(const Buffers& buffers) {
    Few out;
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto each = asio::buffer_sequence_begin(buffers); each != end && out.size() < out.capacity(); ++each)
      if (const typename Few::value_type buffer(*each); buffer.size() > 0) out.push_back(buffer);
    return out;
  }
  std::unique_ptr<LowerStream> lower_;
};

inline void teardown(LowerStream::Role role, BeastStream& stream, LowerStream::Error& failed) {
  stream.lower().tear_down(role, failed);
}
template <class Handler>
void async_teardown(LowerStream::Role role, BeastStream& stream, Handler&& handler) {
  stream.lower().start_to_tear_down(role, Done(std::forward<Handler>(handler), stream.get_executor()));
}
inline void beast_close_socket(BeastStream& stream) {
  LowerStream::Error ignored;
  stream.lower().socket().close(ignored);
}

}  // namespace culmen
