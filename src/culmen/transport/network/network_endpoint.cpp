// The worker's side of a connection over TCP or WebSocket.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <random>

#include "culmen/base/error.hpp"
#include "culmen/base/machine.hpp"
#include "culmen/transport/network/connection.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/turns.hpp"

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
constexpr double first_pause_s = 0.1, longest_pause_s = 15, handshake_s = 20, longest_leave_s = 1,
                 longest_farewell_s = 10;
constexpr double stand_in_after_s = 0.2;  // how late an evaluation may notice the end of the study

/// Connects again if the connection is lost, and sends its last results again, because they may be lost, too. Frames
/// that had arrived and were not received are dropped, because the master gives them to others. It has no thread: the
/// worker's thread reads and writes. During a long evaluation, the thread in wait_closed() does it.
class NetworkEndpoint final : public JoinedEndpoint {
 public:
  explicit NetworkEndpoint(JoinOptions options) : options_(std::move(options)) {
    if (options_.address.scheme == Scheme::wss) tls_ = make_tls(options_.fingerprint);
    asio::co_spawn(
        strand_, [this] { return live(); }, asio::detached);
    Lock lock(mutex_);
    turns_.run_until(lock, [this] { return state_ != State::joining; });
    if (state_ != State::over) return;
    if (refused_) throw InputError(reason_);
    throw TransportError(reason_);
  }

  ~NetworkEndpoint() override {
    leave();
    Lock lock(mutex_);
    await_farewell(lock, longest_farewell_s);
  }

  void leave() noexcept override {
    Lock lock(mutex_);
    state_ = State::over;
    if (current_) current_->finish();
    asio::post(strand_, [this] { pause_.cancel(); });
    await_farewell(lock, longest_leave_s);
  }

  bool receive(FrameHead& head, Bytes& body) override {
    Lock lock(mutex_);
    if (!over() && frames_.empty()) turns_.run_until(lock, [this] { return over() || !frames_.empty(); });
    return pop(head, body);
  }

  bool try_receive(FrameHead& head, Bytes& body) override {
    Lock lock(mutex_);
    if (!over() && frames_.empty()) turns_.poll(lock);
    return pop(head, body);
  }

  /// Returns when the system has the frame: then a worker that is killed has still sent it.
  bool send(const FrameHead& head, BytesView body) override {
    Lock lock(mutex_);
    if (!current_) turns_.run_until(lock, [this] { return over() || current_; });
    if (over()) return false;
    if (head.kind == FrameKind::result) keep(head, body);
    const auto connection = current_;
    connection->send(head, body);
    turns_.run_until(lock, [&] { return over() || current_ != connection || connection->queued_bytes() == 0; });
    return !over();
  }

  void wait_closed() override {
    Lock lock(mutex_);
    turns_.stand_in(lock, span_of(stand_in_after_s), [this] { return over() || released_; });
  }

  void release() noexcept override {
    {
      const Lock lock(mutex_);
      released_ = true;
    }
    turns_.wake();
  }

  bool closed() const noexcept override {
    const Lock lock(mutex_);
    return over();
  }

  std::string trouble() const override {
    const Lock lock(mutex_);
    return reason_;
  }

 private:
  using Lock = Turns::Lock;

  /// Connects, works until the connection ends, connects again.
  asio::awaitable<void> live() {
    std::string why;
    auto until = std::chrono::steady_clock::now() + span_of(options_.patience_s);
    double pause_s = first_pause_s;
    while (true) {
      auto [joined, reason_now] = co_await work_once();
      if (joined) {
        until = std::chrono::steady_clock::now() + span_of(options_.patience_s);
        pause_s = first_pause_s;
      }
      why = reason_now;
      if (is_over() || refused_ || std::chrono::steady_clock::now() >= until) break;
      std::uniform_real_distribution<double> jitter(0.5, 1.5);
      pause_.expires_after(span_of(pause_s * jitter(random_)));
      boost::system::error_code ignored;
      co_await pause_.async_wait(asio::redirect_error(use_awaitable, ignored));
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
      refused_ = !met.joined;
      if (refused_) co_return met;
      enter(connection);
      while (!is_over()) {
        const auto block = co_await connection->read(network_body_bytes);
        take(*connection, block);
      }
    } catch (const boost::system::system_error& e) {
      met.why = fmt::format("{}: {}", to_string(options_.address),
                            e.code() == asio::error::eof ? "the master ended the connection" : e.code().message());
    } catch (const InputError& e) {
      refused_ = true;
      met.why = fmt::format("{}: {}", to_string(options_.address), e.what());
    } catch (const Error& e) {
      met.why = fmt::format("{} sent bytes that cannot be read: {}", to_string(options_.address), e.what());
    }
    if (connection) connection->cut();
    const Lock lock(mutex_);
    current_.reset();
    frames_.clear();
    co_return met;
  }

  asio::awaitable<std::shared_ptr<Connection>> reach() {
    tcp::resolver resolver(strand_);
    const auto found =
        co_await resolver.async_resolve(options_.address.host, std::to_string(options_.address.port), use_awaitable);
    tcp::socket socket(strand_);
    co_await asio::async_connect(socket, found, use_awaitable);
    co_return std::make_shared<Connection>(
        make_byte_stream(options_.address.scheme, Side::worker, std::move(socket),
                         fmt::format("{}:{}", options_.address.host, options_.address.port), tls_));
  }

  /// Why the master refuses this worker; empty if it does not.
  asio::awaitable<std::string> shake_hands(Connection& connection) {
    const auto deadline = connection.cut_after(handshake_s);
    co_await connection.open();
    const Greeting said{options_.token, options_.work, fmt::format("{}:{}", host_name(), getpid())};
    connection.send(head_of(greeting), encode(said));
    const auto block = co_await connection.read(network_body_bytes);
    BytesView rest = block, body;
    FrameHead head;
    next_frame(rest, head, body);
    if (head.kind == refusal)
      co_return fmt::format("{} refused this worker: {}", to_string(options_.address), text_in(body));
    if (head.kind != welcome) throw Error("it did not answer the greeting");
    take(connection, rest);
    co_return std::string();
  }

  void enter(const std::shared_ptr<Connection>& connection) {
    const Lock lock(mutex_);
    current_ = connection;
    for (const auto& frame : last_results_) connection->send(frame.head, frame.body);
    state_ = State::working;
  }

  struct Frame {
    FrameHead head;
    Bytes body;
  };

  void take(Connection& connection, BytesView rest) {
    BytesView body;
    FrameHead head;
    const Lock lock(mutex_);
    while (next_frame(rest, head, body)) {
      if (head.kind == bye) {
        state_ = State::over;
        connection.cut();
        break;
      }
      frames_.push_back({head, Bytes(body.begin(), body.end())});
    }
  }

  /// Under the lock.
  void keep(const FrameHead& head, BytesView body) {
    last_results_.push_back({head, Bytes(body.begin(), body.end())});
    kept_bytes_ += body.size();
    while (last_results_.size() > most_kept || (kept_bytes_ > most_kept_bytes && last_results_.size() > 1)) {
      kept_bytes_ -= last_results_.front().body.size();
      last_results_.pop_front();
    }
  }

  void finish(const std::string& why) {
    const Lock lock(mutex_);
    if (state_ != State::over) reason_ = why;
    state_ = State::over;
    gone_ = true;
  }

  bool is_over() const {
    const Lock lock(mutex_);
    return over();
  }

  /// What is queued is written, and the connection ended.
  void await_farewell(Lock& lock, double at_most_s) {
    turns_.run_until(
        lock, [this] { return gone_; }, std::chrono::steady_clock::now() + span_of(at_most_s));
  }

  /// Under the lock.
  bool over() const { return state_ == State::over; }

  /// Under the lock.
  bool pop(FrameHead& head, Bytes& body) {
    if (over() || frames_.empty()) return false;
    head = frames_.front().head;
    body = std::move(frames_.front().body);
    frames_.pop_front();
    return true;
  }

  enum class State : unsigned char { joining, working, over };
  JoinOptions options_;
  std::shared_ptr<Tls> tls_;
  asio::io_context io_;
  asio::strand<asio::io_context::executor_type> strand_ = asio::make_strand(io_);
  asio::steady_timer pause_{strand_};  // between two tries to connect
  std::minstd_rand random_{std::random_device{}()};
  bool refused_ = false;
  mutable std::mutex mutex_;  // of the following
  State state_ = State::joining;
  std::string reason_;
  std::shared_ptr<Connection> current_;
  std::deque<Frame> frames_;
  std::deque<Frame> last_results_;  // sent, but perhaps lost with the connection; a repetition is dropped
  std::size_t kept_bytes_ = 0;
  bool released_ = false;
  bool gone_ = false;  // its last connection has ended
  Turns turns_{io_};
};

}  // namespace

std::unique_ptr<JoinedEndpoint> make_network_endpoint(JoinOptions options) {
  return std::make_unique<NetworkEndpoint>(std::move(options));
}

}  // namespace culmen
