// The master's side of workers that come and go over TCP or WebSocket.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/listening_transport.hpp"

namespace culmen {
namespace {

constexpr std::size_t most_unreceived_bytes = std::size_t{256} << 10;  // of one worker

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
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(closing_, true)) return true;
      for (const auto& [worker, connection] : connections_) leaving_.push_back(connection);
    }
    arrivals_.close();
    stop_accepting();
    for (const auto& connection : leaving_) {
      connection->send_last(head_of(bye));
      connection->take_all();
    }
    return true;
  }

  void close(double grace_s) override {
    dismiss();
    const auto open = std::exchange(leaving_, {});
    if (open.empty()) return;
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> grace(std::clamp(grace_s, 0.0, longest_close_s));
    all_left_.wait_for(lock, grace, [this] { return connections_.empty(); });
    lock.unlock();
    for (const auto& connection : open) connection->cut();
  }

 private:
  asio::awaitable<void> serve(std::shared_ptr<Connection> connection) override {
    const auto worker = co_await shake_hands(connection);
    if (!worker) co_return;
    std::string why = "the connection ended";
    try {
      while (true) {
        auto block = co_await connection->read(network_body_bytes);
        arrivals_.add({*worker, std::move(block)});
        co_await connection->wait_until_taken(most_unreceived_bytes);
      }
    } catch (const boost::system::system_error& e) {
      if (e.code() != asio::error::eof) why = "the connection ended: " + e.code().message();
    } catch (const Error& e) {
      why = e.what();
    }
    connection->cut();
    leave(*worker, why);
  }

  /// None: the connection was refused.
  asio::awaitable<std::optional<WorkerId>> shake_hands(std::shared_ptr<Connection> connection) {
    const auto handshake = begin_handshake(connection);
    const auto deadline = connection->cut_after(options().handshake_s);
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

  /// None: the study has ended, or there is no place for it.
  std::optional<WorkerId> admit(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    if (closing_) {
      connection->send_last(head_of(bye));
      connection->finish();
      return {};
    }
    if (connections_.size() >= options().connections) {
      refuse(*connection, fmt::format("the run has {} workers already, and takes no more; start it when some have left",
                                      connections_.size()));
      return {};
    }
    connection->send(head_of(welcome), {});
    const auto worker = next_worker_++;
    connections_.emplace(worker, connection);
    arrivals_.add({worker, std::monostate()});
    return worker;
  }

  void leave(WorkerId worker, const std::string& why) {
    const std::lock_guard lock(mutex_);
    connections_.erase(worker);
    arrivals_.add({worker, why});
    if (connections_.empty()) all_left_.notify_all();
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
  std::condition_variable all_left_;
  std::map<WorkerId, std::shared_ptr<Connection>> connections_;
  WorkerId next_worker_ = 0;
  bool closing_ = false;
  std::vector<std::shared_ptr<Connection>> leaving_;  // the engine's thread: dismissed, not yet cut
};

}  // namespace

std::unique_ptr<OpenTransport> make_network_transport(ListenOptions options) {
  return std::make_unique<NetworkTransport>(std::move(options));
}

}  // namespace culmen
