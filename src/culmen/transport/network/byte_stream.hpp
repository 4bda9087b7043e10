// A stream of bytes between master and worker, such as TCP or WebSocket messages.
#pragma once
#include <memory>
#include <string>
#include <utility>  // Asio of Boost 1.74 needs it

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>

#include "culmen/transport/network/certificate.hpp"
#include "culmen/transport/network/web_pages.hpp"

namespace culmen {

namespace asio = boost::asio;

bool can_be_read(int descriptor);

/// One strand calls everything. Reading, writing and opening throw boost::system::system_error.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// The handshakes of the scheme. Throws InputError, too: the master's certificate is not the right one; the other
  /// side wanted a web page and got it.
  virtual asio::awaitable<void> open() = 0;
  /// At least one byte; throws at the stream's end.
  virtual asio::awaitable<std::size_t> read_some(asio::mutable_buffer to) = 0;
  virtual asio::awaitable<void> write(asio::const_buffer from) = 0;
  /// The other side reads the end of the stream.
  void end_writing() noexcept;
  /// Ends everything that waits.
  void cut() noexcept;
  bool is_open() noexcept;
  /// Ends what waits, with operation_aborted; the stream stays open. open() of a master then says why, if the scheme
  /// has words for it by then.
  void interrupt() noexcept;
  virtual asio::any_io_executor executor() = 0;
  /// The stream itself asks a silent peer whether it lives, and ends without an answer.
  virtual bool asks_for_life() const { return false; }

  /// From now on, only the following are used: the thread waits in read_now() and write_now().
  void become_blocking();
  virtual std::size_t read_now(asio::mutable_buffer to) = 0;
  /// The same without waiting: 0 if nothing is there. Then the descriptor can be read as soon as something is.
  virtual std::size_t read_what_came(asio::mutable_buffer to) = 0;
  /// Cheaper than read_what_came(). False: with few exceptions, nothing is there.
  virtual bool seems_readable() { return can_be_read(); }
  virtual void write_now(asio::const_buffer from) = 0;
  /// Of its socket.
  int descriptor() { return socket().native_handle(); }

 protected:
  /// The socket has bytes, or has ended.
  bool can_be_read() { return culmen::can_be_read(descriptor()); }
  /// Options of the socket: small messages leave at once, and a peer that is gone is noticed.
  void set_up();

 private:
  virtual asio::ip::tcp::socket& socket() = 0;
};

enum class Side : unsigned char { master, worker };

/// The TLS context of one side; thread-safe after its construction.
class Tls;
/// Throws InputError for a certificate that OpenSSL does not take.
std::shared_ptr<Tls> make_tls(const Certificate& of_master);
/// For a worker. `fingerprint`: of the master's certificate; empty: an authority that this system trusts must have
/// signed it for the host's name.
std::shared_ptr<Tls> make_tls(const std::string& fingerprint);

struct StreamRequest {
  Side side;
  asio::ip::tcp::socket socket;           ///< connected; its executor is a strand
  std::string host;                       ///< for a worker: HOST:PORT, as it was given
  std::shared_ptr<Tls> tls;               ///< for an encrypted scheme
  std::shared_ptr<const WebPages> pages;  ///< for a master
  double silence_s = 50;                  ///< for a master: see ListenOptions
};

}  // namespace culmen
