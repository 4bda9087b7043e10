#include "culmen/transport/network/network_endpoint.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <random>
#include <thread>

#include "culmen/base/error.hpp"
#include "culmen/base/machine.hpp"
#include "culmen/transport/network/connection.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::size_t most_kept_bytes = std::size_t{4} << 20, most_kept = 16;
constexpr double first_pause_s = 0.1, longest_pause_s = 15, handshake_s = 20, longest_farewell_s = 10;
}  // namespace

struct NetworkEndpoint::Impl {
  explicit Impl(JoinOptions given) : options(std::move(given)) {
    if (options.address.scheme == Scheme::wss) tls = make_tls(options.fingerprint);
  }

  void start() {
    asio::co_spawn(
        strand, [this] { return live(); }, asio::detached);
    thread = std::thread([this] { io.run(); });
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return state != State::joining; });
    if (state == State::over) {
      const auto why = reason;
      lock.unlock();
      end();
      if (refused) throw InputError(why);
      throw TransportError(why);
    }
  }

  void end() {
    io.stop();
    if (thread.joinable()) thread.join();
  }

  /// Connects, works until the connection ends, connects again.
  asio::awaitable<void> live() {
    std::string why;
    auto until = std::chrono::steady_clock::now() + span_of(options.patience_s);
    double pause_s = first_pause_s;
    while (true) {
      auto [joined, reason_now] = co_await work_once();
      if (joined) {
        until = std::chrono::steady_clock::now() + span_of(options.patience_s);
        pause_s = first_pause_s;
      }
      why = reason_now;
      if (is_over() || refused || std::chrono::steady_clock::now() >= until) break;
      std::uniform_real_distribution<double> jitter(0.5, 1.5);
      pause.expires_after(span_of(pause_s * jitter(random)));
      boost::system::error_code ignored;
      co_await pause.async_wait(asio::redirect_error(use_awaitable, ignored));
      pause_s = std::min(longest_pause_s, 2 * pause_s);
    }
    finish(why);
  }

  struct Met {
    bool joined = false;
    std::string why;  // it ended
  };

  asio::awaitable<Met> work_once() {
    Met met;
    std::shared_ptr<Connection> connection;
    try {
      connection = co_await reach();
      met.why = co_await shake_hands(*connection);
      met.joined = met.why.empty();
      refused = !met.joined;
      if (refused) co_return met;
      enter(connection);
      while (!is_over()) {
        const auto block = co_await connection->read(network_body_bytes);
        take(*connection, block);
      }
    } catch (const boost::system::system_error& e) {
      met.why = fmt::format("{}: {}", to_string(options.address),
                            e.code() == asio::error::eof ? "the master ended the connection" : e.code().message());
    } catch (const InputError& e) {
      refused = true;
      met.why = fmt::format("{}: {}", to_string(options.address), e.what());
    } catch (const Error& e) {
      met.why = fmt::format("{} sent bytes that cannot be read: {}", to_string(options.address), e.what());
    }
    if (connection) connection->cut();
    const std::lock_guard lock(mutex);
    current.reset();
    frames.clear();
    co_return met;
  }

  asio::awaitable<std::shared_ptr<Connection>> reach() {
    tcp::resolver resolver(strand);
    const auto found =
        co_await resolver.async_resolve(options.address.host, std::to_string(options.address.port), use_awaitable);
    tcp::socket socket(strand);
    co_await asio::async_connect(socket, found, use_awaitable);
    co_return std::make_shared<Connection>(
        make_byte_stream(options.address.scheme, Side::worker, std::move(socket),
                         fmt::format("{}:{}", options.address.host, options.address.port), tls));
  }

  /// Why the master refuses this worker; empty if it does not.
  asio::awaitable<std::string> shake_hands(Connection& connection) {
    const auto deadline = connection.cut_after(handshake_s);
    co_await connection.open();
    const Greeting said{options.token, options.work, fmt::format("{}:{}", host_name(), getpid())};
    connection.send(head_of(greeting), encode(said));
    const auto block = co_await connection.read(network_body_bytes);
    BytesView rest = block, body;
    FrameHead head;
    next_frame(rest, head, body);
    if (head.kind == refusal)
      co_return fmt::format("{} refused this worker: {}", to_string(options.address), text_in(body));
    if (head.kind != welcome) throw Error("it did not answer the greeting");
    take(connection, rest);
    co_return std::string();
  }

  void enter(const std::shared_ptr<Connection>& connection) {
    connection->on_written = [this] { changed_by_io(); };
    const std::lock_guard lock(mutex);
    current = connection;
    for (const auto& frame : last_results) connection->send(frame.head, frame.body);
    state = State::working;
    changed.notify_all();
  }

  struct Frame {
    FrameHead head;
    Bytes body;
  };

  void take(Connection& connection, BytesView rest) {
    BytesView body;
    FrameHead head;
    const std::lock_guard lock(mutex);
    while (next_frame(rest, head, body)) {
      if (head.kind == bye) {
        state = State::over;
        connection.cut();
        break;
      }
      frames.push_back({head, Bytes(body.begin(), body.end())});
    }
    changed.notify_all();
  }

  /// Under the lock.
  void keep(const FrameHead& head, BytesView body) {
    last_results.push_back({head, Bytes(body.begin(), body.end())});
    kept_bytes += body.size();
    while (last_results.size() > most_kept || (kept_bytes > most_kept_bytes && last_results.size() > 1)) {
      kept_bytes -= last_results.front().body.size();
      last_results.pop_front();
    }
  }

  void changed_by_io() {
    const std::lock_guard lock(mutex);
    changed.notify_all();
  }

  void finish(const std::string& why) {
    const std::lock_guard lock(mutex);
    if (state != State::over) reason = why;
    state = State::over;
    gone = true;
    changed.notify_all();
  }

  bool is_over() {
    const std::lock_guard lock(mutex);
    return state == State::over;
  }

  /// Under the lock.
  bool pop(FrameHead& head, Bytes& body) {
    if (state == State::over || frames.empty()) return false;
    head = frames.front().head;
    body = std::move(frames.front().body);
    frames.pop_front();
    return true;
  }

  enum class State : unsigned char { joining, working, over };
  JoinOptions options;
  std::shared_ptr<Tls> tls;
  asio::io_context io;
  asio::strand<asio::io_context::executor_type> strand = asio::make_strand(io);
  asio::steady_timer pause{strand};  // between two tries to connect
  std::minstd_rand random{std::random_device{}()};
  bool refused = false;
  std::mutex mutex;  // of the following
  std::condition_variable changed;
  State state = State::joining;
  std::string reason;
  std::shared_ptr<Connection> current;
  std::deque<Frame> frames;
  std::deque<Frame> last_results;  // sent, but perhaps lost with the connection; a repetition is dropped
  std::size_t kept_bytes = 0;
  bool released = false;
  bool gone = false;  // its last connection has ended
  std::thread thread;
};

NetworkEndpoint::NetworkEndpoint(JoinOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->start();
}

NetworkEndpoint::~NetworkEndpoint() {
  leave();
  {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait_for(lock, span_of(longest_farewell_s), [this] { return impl_->gone; });
  }
  impl_->end();
}

void NetworkEndpoint::leave() noexcept {
  std::shared_ptr<Connection> last;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->state = Impl::State::over;
    last = impl_->current;
    impl_->changed.notify_all();
  }
  if (last) last->finish();
  asio::post(impl_->strand, [this] { impl_->pause.cancel(); });
}

bool NetworkEndpoint::receive(FrameHead& head, Bytes& body) {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [this] { return impl_->state == Impl::State::over || !impl_->frames.empty(); });
  return impl_->pop(head, body);
}

bool NetworkEndpoint::try_receive(FrameHead& head, Bytes& body) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->pop(head, body);
}

/// Returns when the system has the frame: then a worker that is killed has still sent it.
bool NetworkEndpoint::send(const FrameHead& head, BytesView body) {
  std::unique_lock lock(impl_->mutex);
  const auto over = [this] { return impl_->state == Impl::State::over; };
  impl_->changed.wait(lock, [&] { return over() || impl_->current; });
  if (over()) return false;
  if (head.kind == FrameKind::result) impl_->keep(head, body);
  const auto connection = impl_->current;
  connection->send(head, body);
  impl_->changed.wait(lock, [&] { return over() || impl_->current != connection || connection->queued_bytes() == 0; });
  return !over();
}

void NetworkEndpoint::wait_closed() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [this] { return impl_->state == Impl::State::over || impl_->released; });
}

void NetworkEndpoint::release() noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->released = true;
  impl_->changed.notify_all();
}

bool NetworkEndpoint::closed() const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state == Impl::State::over;
}

std::string NetworkEndpoint::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->reason;
}

}  // namespace culmen
