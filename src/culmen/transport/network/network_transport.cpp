#include "culmen/transport/network/network_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "culmen/base/alarm.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/portion.hpp"
#include "culmen/transport/network/connection.hpp"
#include "culmen/transport/network/listening.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::size_t most_unreceived_bytes = std::size_t{256} << 10;  // of one worker
constexpr std::size_t portion = 1024;                                  // events of one receive()
constexpr double longest_grace_s = 10;

struct CameIn {};
struct Said {
  Bytes block;
};
struct Left {
  std::string why;
};
struct Happening {
  WorkerId worker;
  std::variant<CameIn, Said, Left> what;
};

BytesView as_bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

struct NetworkTransport::Impl {
  explicit Impl(ListenOptions given)
      : options(std::move(given)),
        pages(std::make_shared<WebPages>(options.token, options.status)),
        acceptor(asio::make_strand(io)) {
    prove();
    open_acceptor(acceptor, options);
  }

  void prove() {
    if (options.address.scheme != Scheme::wss) return;
    const auto certificate = options.certificate.empty() ? make_certificate() : certificate_in(options.certificate);
    tls = make_tls(certificate);
    fingerprint = fingerprint_of(certificate.chain);
  }

  void start() {
    asio::co_spawn(
        acceptor.get_executor(), [this] { return accept_all(); }, asio::detached);
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.io_threads); ++i)
      threads.emplace_back([this] {
        pthread_setname_np(pthread_self(), io_thread_name);
        io.run();
      });
  }

  void end() {
    io.stop();
    for (auto& thread : threads) thread.join();
    threads.clear();
  }

  asio::awaitable<void> accept_all() {
    while (true) {
      boost::system::error_code failed;
      auto strand = asio::make_strand(io);
      tcp::socket socket(strand);
      co_await acceptor.async_accept(socket, asio::redirect_error(use_awaitable, failed));
      if (failed == asio::error::operation_aborted) co_return;
      if (failed) {  // too many open files, or a peer that is gone already
        asio::steady_timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(use_awaitable);
        continue;
      }
      if (handshakes >= options.handshakes) continue;
      auto connection = std::make_shared<Connection>(
          make_byte_stream(options.address.scheme, Side::master, std::move(socket), options.address.host, tls, pages));
      asio::co_spawn(
          strand, [this, connection] { return serve(connection); }, asio::detached);
    }
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection) {
    const auto worker = co_await shake_hands(connection);
    if (!worker) co_return;
    std::string why = "the connection ended";
    try {
      while (true) {
        auto block = co_await connection->read(network_body_bytes);
        if (!take(*worker, std::move(block))) continue;
        co_await connection->wait_until_taken(most_unreceived_bytes);
      }
    } catch (const boost::system::system_error& e) {
      if (e.code() != asio::error::eof) why = "the connection ended: " + e.code().message();
    } catch (const Error& e) {
      why = fmt::format("it sent bytes that cannot be read: {}", e.what());
    }
    connection->cut();
    leave(*worker, why);
  }

  /// None: the connection was refused.
  asio::awaitable<std::optional<WorkerId>> shake_hands(std::shared_ptr<Connection> connection) {
    ++handshakes;
    const auto deadline = connection->cut_after(options.handshake_s);
    std::optional<WorkerId> worker;
    try {
      co_await connection->open();
      const auto block = co_await connection->read(greeting_bytes);
      connection->took(block.size());
      if (const auto why = objection(block); !why.empty()) {
        connection->send(head_of(refusal), as_bytes(why));
        connection->finish();
      } else {
        connection->send(head_of(welcome), {});
        worker = admit(connection);
      }
    } catch (const std::exception&) {
      connection->cut();
    }
    --handshakes;
    co_return worker;
  }

  /// Why this greeting is not welcome; empty if it is.
  std::string objection(BytesView block) const {
    FrameHead head;
    BytesView body;
    next_frame(block, head, body);
    if (head.kind != greeting || !block.empty()) return "it did not say a greeting first";
    try {
      return objection_to(decode_greeting(body), options);
    } catch (const Error& e) {
      return e.what();
    }
  }

  std::optional<WorkerId> admit(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex);
    if (closing || connections.size() >= options.connections) {
      connection->finish();
      return {};
    }
    const auto worker = next_worker++;
    connections.emplace(worker, connection);
    happen({worker, CameIn{}});
    return worker;
  }

  /// False if nobody will receive it.
  bool take(WorkerId worker, Bytes block) {
    const std::lock_guard lock(mutex);
    if (closing) return false;
    happen({worker, Said{std::move(block)}});
    return true;
  }

  void leave(WorkerId worker, const std::string& why) {
    const std::lock_guard lock(mutex);
    connections.erase(worker);
    happen({worker, Left{why}});
    if (connections.empty()) all_left.notify_all();
  }

  /// Under the lock.
  void happen(Happening happening) {
    happenings.push_back(std::move(happening));
    if (happenings.size() > 1) return;
    if (bell) bell();
    else alarm.ring();
  }

  std::shared_ptr<Connection> connection_of(WorkerId worker) {
    const std::lock_guard lock(mutex);
    const auto found = connections.find(worker);
    return found == connections.end() ? nullptr : found->second;
  }

  void deliver(const Happening& happening, Sink& sink) {
    if (std::holds_alternative<CameIn>(happening.what)) return sink.joined(happening.worker);
    if (const auto* left = std::get_if<Left>(&happening.what))
      return sink.lost(happening.worker, fmt::format("worker {}: {}", happening.worker, left->why));
    const auto& block = std::get<Said>(happening.what).block;
    BytesView rest = block, body;
    FrameHead head;
    while (next_frame(rest, head, body)) sink.arrived(happening.worker, head, body);
    if (const auto connection = connection_of(happening.worker)) connection->took(block.size());
  }

  ListenOptions options;
  std::shared_ptr<const WebPages> pages;
  asio::io_context io;
  tcp::acceptor acceptor;
  std::shared_ptr<Tls> tls;
  std::string fingerprint;
  Alarm alarm;
  std::function<void()> bell;
  std::atomic<std::size_t> handshakes = 0;
  mutable std::mutex mutex;  // of the following
  std::condition_variable all_left;
  std::map<WorkerId, std::shared_ptr<Connection>> connections;
  std::deque<Happening> happenings;
  WorkerId next_worker = 0;
  bool closing = false;
  std::vector<std::shared_ptr<Connection>> leaving;  // the engine's thread: dismissed, not yet cut
  std::vector<std::thread> threads;                  // the last member: they use the others
};

NetworkTransport::NetworkTransport(ListenOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->start();
}

NetworkTransport::~NetworkTransport() {
  close(0);
  impl_->end();
}

const Address& NetworkTransport::address() const { return impl_->options.address; }

const std::string& NetworkTransport::fingerprint() const { return impl_->fingerprint; }

std::size_t NetworkTransport::connected() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->connections.size();
}

void NetworkTransport::ring(std::function<void()> bell) {
  const std::lock_guard lock(impl_->mutex);
  impl_->bell = std::move(bell);
}

void NetworkTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  if (const auto connection = impl_->connection_of(worker)) connection->send(head, body);
}

bool NetworkTransport::receive(Sink& sink) {
  std::deque<Happening> some;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->closing) return false;
    some = take_portion(impl_->happenings, portion);
  }
  for (const auto& happening : some) impl_->deliver(happening, sink);
  return !some.empty();
}

void NetworkTransport::sleep(double at_most_s) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->happenings.empty() && !impl_->closing) return;
  }
  impl_->alarm.sleep(at_most_s);
}

void NetworkTransport::wake() noexcept { impl_->alarm.ring(); }

bool NetworkTransport::dismiss() {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->closing) return true;
    impl_->closing = true;
    for (const auto& [worker, connection] : impl_->connections) impl_->leaving.push_back(connection);
  }
  asio::post(impl_->acceptor.get_executor(), [this] { impl_->acceptor.close(); });
  for (const auto& connection : impl_->leaving) {
    connection->send_at_once(head_of(bye), {});
    connection->take_all();
  }
  return true;
}

void NetworkTransport::close(double grace_s) {
  dismiss();
  const auto open = std::exchange(impl_->leaving, {});
  if (open.empty()) return;
  std::unique_lock lock(impl_->mutex);
  const std::chrono::duration<double> grace(std::clamp(grace_s, 0.0, longest_grace_s));
  impl_->all_left.wait_for(lock, grace, [this] { return impl_->connections.empty(); });
  lock.unlock();
  for (const auto& connection : open) connection->cut();
}

}  // namespace culmen
