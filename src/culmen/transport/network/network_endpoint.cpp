// The worker's side of a connection over TCP or WebSocket.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/backoff.hpp"
#include "culmen/transport/network/joined_connection.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/scheme.hpp"
#include "culmen/transport/network/turns.hpp"
#include "culmen/transport/network/unreached.hpp"
#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {
using Lock = Turns::Lock;

constexpr std::size_t most_kept_bytes = std::size_t{4} << 20, most_kept = 64;
constexpr std::size_t most_held_bytes = std::size_t{64} << 10;
constexpr double longest_held_s = 0.1;
// Fewer may be calls of a program that waits for each.
constexpr std::size_t fewest_waiting = 4;
constexpr double longest_leave_s = 1;
constexpr double stand_in_after_s =
    0.2;  // how late an evaluation may notice the end of the study, or results may leave

/// Connects again if the connection is lost, and sends its last results again, because they may be lost, too. Frames
/// that had arrived and were not received are dropped, because the master gives them to others. While many candidates
/// wait, it holds as many results as the master allows: one message for several costs both sides less. It has no
/// thread: the worker's thread reads and writes. During a long evaluation, the thread in wait_closed() does it.
class NetworkEndpoint final : public JoinedEndpoint {
 public:
  explicit NetworkEndpoint(JoinOptions options) : options_(std::move(options)) {
    if (scheme_named(options_.address.scheme).encrypted) tls_ = make_tls(options_.fingerprint);
  }

  ~NetworkEndpoint() override { leave(); }

  void join() override {
    Lock lock(mutex_);
    try_until_ = now() + span_of(options_.patience_s);
    connect(lock, [] { return false; });
    if (reason_.empty()) return;
    if (refused_) throw InputError(reason_);
    throw TransportError(reason_);
  }

  void leave() noexcept override {
    Lock lock(mutex_);
    over_ = true;
    turns_.wake();
    if (joining_) joining_->shut();
    written_.wait_for(lock, span_of(longest_leave_s), [this] { return !writing_; });
    if (current_) current_->shut();
  }

  bool receive(FrameHead& head, Bytes& body) override {
    Lock lock(mutex_);
    if (must_hand_in() || (!over_ && frames_.empty())) {
      const Turns::Turn turn(turns_, lock);
      send_held(lock);
      while (!over_ && frames_.empty()) hear(lock);
    }
    return pop(head, body);
  }

  bool try_receive(FrameHead& head, Bytes& body) override {
    Lock lock(mutex_);
    if (must_hand_in() || (!over_ && frames_.empty())) {
      const Turns::Turn turn(turns_, lock);
      if (frames_.empty()) read_what_seems_there(lock);
      if (must_hand_in()) send_held(lock);
    }
    return pop(head, body);
  }

  /// Returns when the system has the frame, so that a worker that is killed has still sent it, or holds it.
  bool send(const FrameHead& head, BytesView body) override {
    Lock lock(mutex_);
    const Turns::Turn turn(turns_, lock);
    while (!over_ && !current_) connect(lock, [] { return false; });
    read_what_seems_there(lock);  // it may be the end of the study, which a worker that only sends must notice
    if (over_) {
      send_held(lock);
      return false;
    }
    const bool is_result = head.kind == FrameKind::result;
    if (is_result) keep(head, body);
    unsent_results_ += is_result;
    if (!current_) return true;  // it is sent again with the next connection
    if (held_.empty()) held_since_ = now();
    append_frame(held_, head, body);
    if (is_result && holds()) return true;
    return send_held(lock) || !over_;
  }

  void hand_in() override {
    Lock lock(mutex_);
    if (held_.empty()) return;
    const Turns::Turn turn(turns_, lock);
    send_held(lock);
  }

  void wait_closed() override {
    Lock lock(mutex_);
    turns_.stand_in(
        lock, span_of(stand_in_after_s), [this] { return over_ || released_; }, [this](Lock& held) { watch(held); });
  }

  void release() noexcept override {
    const Lock lock(mutex_);
    released_ = true;
    turns_.wake();
  }

  bool closed() const noexcept override {
    const Lock lock(mutex_);
    return over_;
  }

  std::uint64_t results() const override {
    const Lock lock(mutex_);
    return sent_results_;
  }

  std::string trouble() const override {
    const Lock lock(mutex_);
    return reason_;
  }

 private:
  struct Frame {
    FrameHead head;
    Bytes body;
  };

  /// An evaluation that is repeated may end this process; the master must then know that the others before it had
  /// ended.
  bool must_hand_in() const { return !held_.empty() && (over_ || frames_.empty() || frames_.front().head.attempt > 0); }

  static std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

  // All that follows is called under the lock, and with the turn unless nobody else is there yet.

  /// Waits for frames of the master, or connects again.
  void hear(Lock& lock) {
    if (current_) read(lock, &JoinedConnection::read);
    else connect(lock, [] { return false; });
  }

  /// The same beside an evaluation. Returns early if the worker's thread wants its turn.
  void watch(Lock& lock) {
    send_held(lock);
    if (!current_) return connect(lock, [this] { return turns_.is_wanted() || released_; });
    if (read_what_came(lock)) return;
    const auto descriptor = current_->descriptor();
    lock.unlock();
    turns_.alarm().sleep_beside(descriptor);
    lock.lock();
  }

  /// False: nothing came.
  bool read_what_came(Lock& lock) { return current_ && read(lock, &JoinedConnection::read_what_came); }
  void read_what_seems_there(Lock& lock) {
    if (current_) read(lock, &JoinedConnection::read_what_seems_there);
  }

  bool read(Lock& lock, Bytes (JoinedConnection::*how)()) {
    const auto connection = current_;
    Bytes block;
    std::string why;
    lock.unlock();
    try {
      block = (*connection.*how)();
    } catch (const Error& e) {
      why = e.what();
    }
    lock.lock();
    if (why.empty()) take(lock, block);
    else lose(why);
    return !why.empty() || !block.empty();
  }

  /// More results can wait for this one's message.
  bool holds() {
    return frames_.size() >= fewest_waiting && unsent_results_ < may_hold_ && !repeats_ &&
           held_.size() < most_held_bytes && now() < held_since_ + span_of(longest_held_s);
  }

  /// True: the system has all that was held.
  bool send_held(Lock& lock) {
    if (held_.empty()) return true;
    std::swap(out_, held_);
    clear(held_);
    return write_results(lock);
  }

  /// The same with those of a lost connection.
  bool write_results(Lock& lock) {
    const bool written = write(lock);
    if (written) sent_results_ += std::exchange(unsent_results_, 0);
    return written;
  }

  /// Writes the content of out_. True if the operating system has accepted it; the study may have ended meanwhile.
  bool write(Lock& lock) {
    const auto connection = current_;
    std::string why;
    writing_ = true;
    lock.unlock();
    try {
      connection->write(out_);
    } catch (const Error& e) {
      why = e.what();
    }
    lock.lock();
    writing_ = false;
    if (!why.empty()) lose(why);
    if (over_) written_.notify_all();
    return why.empty();
  }

  void take(Lock& lock, BytesView block) {
    BytesView body;
    FrameHead head;
    while (next_frame(block, head, body)) {
      if (head.kind == bye) return end_study(lock);
      if (head.kind == refusal) return end(words_of("sent this worker away", body));
      if (head.kind == farewell) return lose(words_of("ended the connection", body));
      if (head.kind == life_sign) {
        say(lock, life_sign);
        if (over_ || !current_) return;
        continue;
      }
      frames_.push_back({head, Bytes(body.begin(), body.end())});
    }
  }

  void say(Lock& lock, FrameKind kind) {
    clear(out_);
    append_frame(out_, head_of(kind), {});
    write(lock);
  }

  std::string words_of(const char* what, BytesView why) const {
    return fmt::format("{} {}: {}", to_string(options_.address), what, text_in(why));
  }

  /// Says that it knows: the master need not wait for it.
  void end_study(Lock& lock) {
    over_ = true;
    say(lock, bye);
    end({});
  }

  void end(const std::string& why) {
    over_ = true;
    reason_ = why;
    clear(held_);
    if (current_) current_->shut();
    turns_.wake();
  }

  void lose(const std::string& why) {
    current_.reset();
    frames_.clear();
    clear(held_);  // they are among the last results
    if (over_) return;
    last_trouble_ = why;
    try_until_ = now() + span_of(options_.patience_s);
    backoff_.restart();
    pause();
  }

  void pause() { try_at_ = std::min(now() + span_of(backoff_.next_s(random_)), std::max(now(), try_until_)); }

  /// Tries to connect until it is welcome, the patience ends, or `interrupted()`.
  template <class Interrupted>
  void connect(Lock& lock, Interrupted interrupted) {
    const auto ended = [&] { return over_ || interrupted(); };
    while (!current_ && !ended()) {
      if (now() < try_at_) {
        turns_.sleep_until(lock, try_at_, ended);
        continue;
      }
      try_to_join(lock);
    }
  }

  void try_to_join(Lock& lock) {
    const auto connection = std::make_shared<JoinedConnection>(options_, tls_);
    Bytes first;
    bool joined = false, hopeless = false;
    joining_ = connection;
    const std::chrono::duration<double> left = try_until_ - now();
    lock.unlock();
    try {
      first = connection->open(length_of_try_s(left.count()));
      joined = true;
    } catch (const InputError& e) {
      refused_ = true;
      last_trouble_ = e.what();
    } catch (const UnknownHost& e) {
      hopeless = !has_joined_;
      last_trouble_ = e.what();
    } catch (const Error& e) {
      last_trouble_ = e.what();
    }
    lock.lock();
    joining_.reset();
    if (over_) return;
    if (joined) return enter(lock, connection, first);
    if (refused_ || hopeless) end(last_trouble_);
    else if (now() >= try_until_) end(has_joined_ ? why_left_alone() : last_trouble_);
    else pause();
  }

  std::string why_left_alone() const {
    return fmt::format(
        "{}: the connection was lost, and the run was not reached again within {:.3g} s; it has ended or was "
        "interrupted, or the network is down",
        to_string(options_.address), options_.patience_s);
  }

  void enter(Lock& lock, std::shared_ptr<JoinedConnection> connection, BytesView first) {
    current_ = std::move(connection);
    has_joined_ = true;
    take(lock, first);
    if (!current_ || over_) return;
    clear(out_);
    for (const auto& frame : last_results_) append_frame(out_, frame.head, frame.body);
    if (!out_.empty()) write_results(lock);
  }

  void keep(const FrameHead& head, BytesView body) {
    last_results_.push_back({head, Bytes(body.begin(), body.end())});
    kept_bytes_ += body.size();
    while (last_results_.size() > most_kept || (kept_bytes_ > most_kept_bytes && last_results_.size() > 1)) {
      kept_bytes_ -= last_results_.front().body.size();
      last_results_.pop_front();
    }
  }

  bool pop(FrameHead& head, Bytes& body) {
    if (over_ || frames_.empty()) return false;
    head = frames_.front().head;
    repeats_ = head.attempt > 0;
    may_hold_ = head.may_hold;
    body = std::move(frames_.front().body);
    frames_.pop_front();
    return true;
  }

  JoinOptions options_;
  std::shared_ptr<Tls> tls_;
  mutable std::mutex mutex_;  // of the following
  Turns turns_;
  bool over_ = false;
  bool released_ = false;
  std::string reason_;                         // why it is over without a bye
  std::shared_ptr<JoinedConnection> current_;  // null: connecting again
  std::shared_ptr<JoinedConnection> joining_;  // in try_to_join()
  std::deque<Frame> frames_;                   // for receive()
  std::deque<Frame> last_results_;             // sent, but perhaps lost with the connection; a repetition is dropped
  std::size_t kept_bytes_ = 0;
  std::uint64_t sent_results_ = 0, unsent_results_ = 0;
  bool repeats_ = false;        // the evaluation of the latest candidate
  std::uint32_t may_hold_ = 0;  // of the same
  bool writing_ = false;
  std::condition_variable written_;
  // With the turn:
  Bytes out_, held_;
  std::chrono::steady_clock::time_point held_since_;
  bool refused_ = false, has_joined_ = false;
  std::string last_trouble_;
  std::chrono::steady_clock::time_point try_at_, try_until_;
  Backoff backoff_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

std::unique_ptr<JoinedEndpoint> make_network_endpoint(JoinOptions options) {
  return std::make_unique<NetworkEndpoint>(std::move(options));
}

}  // namespace culmen
