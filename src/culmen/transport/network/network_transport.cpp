// The master's side of workers that come and go over TCP or WebSocket.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/listening_transport.hpp"

namespace culmen {
namespace {

using Moment = std::chrono::steady_clock::time_point;

constexpr std::size_t most_unreceived_bytes = std::size_t{256} << 10;  // of one worker
constexpr std::size_t most_missing = 65536;

/// Takes the frame off the end that says that the worker knows of the end of the study; false if there is none.
bool take_bye(Bytes& block) {
  BytesView rest = block, body;
  FrameHead head;
  while (next_frame(rest, head, body)) {
    if (head.kind != bye) continue;
    block.resize(block.size() - rest.size() - body.size() - frame_prefix_bytes);
    return true;
  }
  return false;
}

/// A worker that connects again gets a new number.
class NetworkTransport final : public ListeningTransport {
 public:
  explicit NetworkTransport(ListenOptions options) : ListeningTransport(std::move(options)) { start(); }
  ~NetworkTransport() override {
    NetworkTransport::close(0);
    end();
  }

  std::size_t connected() const override {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }

  void send(WorkerId worker, const FrameHead& head, BytesView body) override {
    if (const auto connection = connection_of(worker)) connection->send(head, body);
  }

  void turn_away(WorkerId worker, const std::string& why) override {
    if (const auto connection = connection_of(worker)) connection->part(refusal, why);
  }

  bool dismiss() override {
    std::vector<std::shared_ptr<Connection>> there;
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(closing_, true)) return true;
      first_late_ = next_worker_;
      there = open_connections();
    }
    arrivals_.close();
    for (const auto& connection : there) say_bye(*connection);
    return true;
  }

  void close(double grace_s) override {
    dismiss();
    std::vector<std::shared_ptr<Connection>> there;
    {
      std::unique_lock lock(mutex_);
      wait_for_all(lock, std::chrono::steady_clock::now() + span_of(std::clamp(grace_s, 0.0, longest_close_s)));
      there = open_connections();
    }
    stop_accepting();
    for (const auto& connection : there) connection->cut();
  }

 private:
  /// Until they have left. Those who were cut off just before come back, and learn of the end.
  void wait_for_all(std::unique_lock<std::mutex>& lock, Moment end) {
    const auto returns_within = span_of(options().return_s);
    for (auto now = Moment(); (now = std::chrono::steady_clock::now()) < end;) {
      while (!missing_.empty() && missing_.front() + returns_within <= now) missing_.pop_front();
      if (connections_.empty() && missing_.empty()) return;
      left_.wait_until(lock, missing_.empty() ? end : std::min(end, missing_.front() + returns_within));
    }
  }

  std::vector<std::shared_ptr<Connection>> open_connections() const {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& [worker, connection] : connections_) all.push_back(connection);
    return all;
  }

  /// ends: it need not answer.
  static void say_bye(Connection& connection, bool ends = false) {
    connection.send_last(head_of(bye));
    if (ends) connection.end_writing();
    connection.take_all();
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection) override {
    const auto worker = co_await shake_hands(connection);
    if (!worker) co_return;
    connection->expect_life(options().silence_s);
    std::string why = "the connection ended";
    bool returns = true;
    try {
      while (true) {
        auto block = co_await connection->read(options().largest_body, raise_largest_message, options().stall_s);
        returns = !take_bye(block);
        arrivals_.add({*worker, std::move(block)});
        if (!returns) break;
        co_await connection->wait_until_taken(most_unreceived_bytes);
      }
    } catch (const boost::system::system_error& e) {
      if (e.code() != asio::error::eof) why = "the connection ended: " + e.code().message();
    } catch (const Error& e) {
      why = e.what();
      returns = false;
    }
    connection->cut();
    leave(*worker, why, returns);
  }

  /// None: the connection was refused.
  asio::awaitable<std::optional<WorkerId>> shake_hands(std::shared_ptr<Connection> connection) {
    const auto handshake = begin_handshake(connection);
    const auto deadline = connection->part_after(options().handshake_s, why_late());
    std::optional<WorkerId> worker;
    try {
      co_await connection->open();
      const auto block = co_await connection->read(greeting_bytes);
      connection->took(block.size());
      if (const auto why = objection_to(block); !why.empty()) {
        refuse(*connection, why);
      } else {
        worker = admit(connection);
      }
    } catch (const std::exception&) {
      connection->cut();
    }
    co_return worker;
  }

  /// Why this first block is not welcome; empty if it is.
  std::string objection_to(BytesView block) const {
    FrameHead head;
    BytesView body;
    next_frame(block, head, body);
    if (head.kind != greeting || !block.empty()) return "it did not say a greeting first";
    try {
      return ListeningTransport::objection_to(decode_greeting(body));
    } catch (const Error& e) {
      return e.what();
    }
  }

  /// None: there is no place for it.
  std::optional<WorkerId> admit(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    if (!missing_.empty()) missing_.pop_front();
    if (!closing_ && connections_.size() >= options().connections) {
      refuse(*connection, fmt::format("the run has {} workers already, and takes no more; start it when some have left",
                                      connections_.size()));
      return {};
    }
    if (closing_) say_bye(*connection, true);
    else connection->send(head_of(welcome), {});
    const auto worker = next_worker_++;
    connections_.emplace(worker, connection);
    arrivals_.add({worker, std::monostate()});
    return worker;
  }

  /// returns: nobody has told it why.
  void leave(WorkerId worker, const std::string& why, bool returns) {
    const std::lock_guard lock(mutex_);
    connections_.erase(worker);
    arrivals_.add({worker, why});
    if (!returns || worker >= first_late_) return left_.notify_all();
    missing_.push_back(std::chrono::steady_clock::now());
    if (missing_.size() > connections_.size() + most_missing) missing_.pop_front();
    left_.notify_all();
  }

  void delivered(WorkerId worker, std::size_t block_bytes) override {
    if (const auto connection = connection_of(worker)) connection->took(block_bytes);
  }

  std::shared_ptr<Connection> connection_of(WorkerId worker) {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(worker);
    return found == connections_.end() ? nullptr : found->second;
  }

  mutable std::mutex mutex_;  // of the following
  std::condition_variable left_;
  std::deque<Moment> missing_;  // when workers were cut off who may come back
  std::map<WorkerId, std::shared_ptr<Connection>> connections_;
  WorkerId next_worker_ = 0;
  bool closing_ = false;
  WorkerId first_late_ = std::numeric_limits<WorkerId>::max();  // from this number on, they came after the end
};

}  // namespace

std::unique_ptr<OpenTransport> make_network_transport(ListenOptions options) {
  return std::make_unique<NetworkTransport>(std::move(options));
}

}  // namespace culmen
