// Common part of the transports that listen: they accept connections and pass on the frames that arrive.
#pragma once
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "culmen/base/descriptors.hpp"
#include "culmen/transport/network/arrivals.hpp"
#include "culmen/transport/network/connection.hpp"
#include "culmen/transport/network/handshakes.hpp"
#include "culmen/transport/network/open_transport.hpp"
#include "culmen/transport/network/scheme.hpp"

#include <boost/asio/io_context.hpp>

namespace culmen {

inline constexpr double longest_close_s = 10;
inline constexpr char raise_largest_message[] =
    " bytes; raise --largest-message-mib of the run (largest_message_mib in a program)";

class ListeningTransport : public OpenTransport {
 public:
  const Address& address() const final { return options_.address; }
  const std::string& fingerprint() const final { return fingerprint_; }
  void ring(std::function<void()> bell) final { arrivals_.ring(std::move(bell)); }
  bool receive(Sink& sink) final;
  void sleep(double at_most_s) final { arrivals_.sleep(at_most_s); }
  void wake() noexcept final { arrivals_.wake(); }

 protected:
  /// Listens from now on, and accepts after start(). Throws InputError if it cannot listen at the address.
  explicit ListeningTransport(ListenOptions options);
  void start();
  /// Accepts no more. Any thread.
  void stop_accepting();
  /// Ends the I/O threads. A destructor must call it first.
  void end();

  /// Runs on the strand of its connection.
  virtual asio::awaitable<void> serve(std::shared_ptr<Connection> connection) = 0;
  /// The sink has all frames of a block.
  virtual void delivered(WorkerId worker, std::size_t block_bytes) = 0;

  /// Runs beside accepting, on its strand.
  void run(asio::awaitable<void> task);
  asio::any_io_executor executor() { return acceptor_.get_executor(); }
  /// Of one who came with another scheme.
  std::string objection_to(Opening opening) const;
  /// Why this greeting is not welcome; empty if it is.
  std::string objection_to(const Greeting& said) const;
  /// Of one whose greeting is not there in time.
  std::string why_late() const;
  /// Says why, and ends the connection.
  void refuse(Connection& connection, const std::string& why) const;
  /// While it lives, the connection may have to end for newer ones.
  Handshakes::Entry begin_handshake(const std::shared_ptr<Connection>& connection);
  const ListenOptions& options() const { return options_; }

  Arrivals arrivals_;

 private:
  asio::awaitable<void> accept_all();
  /// Serves it, unless it came with another scheme.
  asio::awaitable<void> meet(std::shared_ptr<asio::ip::tcp::socket> socket, std::shared_ptr<DescriptorRoom> room);
  /// There are no files for one more: says so, and ends the connection.
  asio::awaitable<void> send_off(std::shared_ptr<asio::ip::tcp::socket> socket, std::string why);
  asio::awaitable<bool> turn_away(asio::ip::tcp::socket& socket, const bool& is_late);
  void deliver(const Arrival& arrival, Sink& sink);

  ListenOptions options_;
  const Scheme& scheme_;
  std::shared_ptr<Tls> tls_;
  std::string fingerprint_;
  std::shared_ptr<const WebPages> pages_;
  Handshakes handshakes_;
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  std::vector<std::thread> threads_;
};

}  // namespace culmen
