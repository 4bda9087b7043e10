// The worker's side of TCP with a connection for each item; see per_item_transport.cpp.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <tuple>
#include <utility>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/machine.hpp"
#include "culmen/transport/network/blocking_socket.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/unreached.hpp"
#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {
constexpr std::size_t own_write_bytes = std::size_t{64} << 10;  // such a body is not copied
constexpr double first_rest_s = 0.05, longest_rest_s = 5, farewell_s = 5;

/// Takes a block of whole frames apart. Throws Error if it is none.
std::deque<std::pair<FrameHead, Bytes>> frames_in(BytesView block) {
  if (whole_frames(block, network_body_bytes).bytes != block.size()) throw Error("the connection ended early");
  std::deque<std::pair<FrameHead, Bytes>> frames;
  FrameHead head;
  BytesView body;
  while (next_frame(block, head, body)) frames.emplace_back(head, Bytes(body.begin(), body.end()));
  if (frames.empty()) throw Error("the connection ended early");
  return frames;
}

/// It has a connection while it waits for an item and while it hands in a result. During an evaluation it has none, so
/// that the end of the study does not interrupt the evaluation.
class PerItemEndpoint final : public JoinedEndpoint {
 public:
  explicit PerItemEndpoint(JoinOptions options) : options_(std::move(options)) {}

  void join() override {
    if (!finish_visit(false) && !trouble().empty()) throw TransportError(trouble());
  }

  /// If the worker leaves before the end of the study, it says so.
  ~PerItemEndpoint() override {
    leave();
    if (!left_ || worker_ == Visit::nobody) return;
    try {
      BlockingSocket last;
      begin_visit(last, false, true);
      last.expect_within(farewell_s);
      last.read_all();
    } catch (const std::exception&) {  // the master is gone, too
    }
  }

  void leave() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      left_ = !std::exchange(over_, true) || left_;
      changed_.notify_all();
    }
    socket_.interrupt();
  }

  bool receive(FrameHead& head, Bytes& body) override {
    while (!pop(head, body))
      if (!finish_visit(true)) return false;
    return true;
  }

  bool try_receive(FrameHead& head, Bytes& body) override { return pop(head, body); }

  /// If the worker has no other item, the visit that hands in the frame also waits for the next one.
  bool send(const FrameHead& head, BytesView body) override {
    if (is_over()) return false;
    const auto number = confirmed_ + unconfirmed_.size();
    unconfirmed_.emplace_back(head, Bytes(body.begin(), body.end()));
    const bool waits = waiting_.empty() && !socket_.is_open();
    socket_.close();
    if (waits) begin_waiting();
    else finish_visit(false);
    return written_ > number || !is_over();
  }

  void wait_closed() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || released_; });
  }

  void release() noexcept override {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

  bool closed() const noexcept override { return is_over(); }

  std::uint64_t results() const override {
    const std::lock_guard lock(mutex_);
    return results_;
  }

  std::string trouble() const override {
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  void begin_waiting() {
    try {
      begin_visit(socket_, true, false);
    } catch (const TransportError&) {  // receive() tries again
      socket_.close();
    }
  }

  /// Connects and says what it brings; the answer is not read yet.
  void begin_visit(BlockingSocket& by, bool waits, bool leaves, double at_most_s = longest_try_s) {
    by.connect(options_.address, at_most_s);
    if (worker_ == Visit::nobody) by.expect_within(at_most_s);  // its first answer comes at once
    Visit said;
    said.greeting = {options_.token, options_.work, fmt::format("{}:{}", host_name(), getpid())};
    said.worker = worker_;
    said.received = received_;
    said.first = confirmed_;
    said.frames = unconfirmed_.size();
    said.waits = waits;
    said.leaves = leaves;
    Bytes out;
    append_frame(out, head_of(visit), encode(said));
    for (const auto& [head, body] : unconfirmed_) {
      append_prefix(out, head, body.size());
      if (body.size() < own_write_bytes) {
        out.insert(out.end(), body.begin(), body.end());
        continue;
      }
      by.write(out);
      by.write(body);
      out.clear();
    }
    by.write(out);
    count_written();
  }

  void count_written() {
    const std::lock_guard lock(mutex_);
    for (auto number = std::max(written_, confirmed_); number < confirmed_ + unconfirmed_.size(); ++number)
      results_ += unconfirmed_[number - confirmed_].first.kind == FrameKind::result;
    written_ = confirmed_ + unconfirmed_.size();
  }

  /// Reads the answer of the visit, which it begins if there is none. Tries again until the patience ends. False at the
  /// end of the study. Throws InputError if the master refuses.
  bool finish_visit(bool waits) {
    const SteadyClock clock;
    const auto until = clock.now_s() + options_.patience_s;
    for (auto pause_s = first_rest_s; !is_over(); pause_s = std::min(longest_rest_s, 2 * pause_s)) {
      std::string why;
      try {
        const auto left_s = until - clock.now_s();
        if (!socket_.is_open()) begin_visit(socket_, waits, false, length_of_try_s(left_s));
        const auto block = socket_.read_all();
        socket_.close();
        hear(block);
        return !is_over();
      } catch (const InputError&) {
        throw;
      } catch (const Error& e) {
        why = e.what();
      }
      socket_.close();
      if (clock.now_s() >= until) give_up(fmt::format("{}: {}", to_string(options_.address), why));
      rest(std::min(pause_s, std::max(0.0, until - clock.now_s())));
    }
    return false;
  }

  void hear(BytesView block) {
    auto frames = frames_in(block);
    const auto [head, body] = std::move(frames.front());
    frames.pop_front();
    if (head.kind == bye) return end();
    if (head.kind == refusal)
      throw InputError(fmt::format("{} refused this worker: {}", to_string(options_.address), text_in(body)));
    if (head.kind == farewell) throw Error("it ended the connection: " + text_in(body));
    if (head.kind != answer) throw Error("it gave no answer");
    const auto said = decode_answer(body);
    if (frames.size() != said.frames) throw Error("the connection ended early");
    for (; confirmed_ < said.received && !unconfirmed_.empty(); ++confirmed_) unconfirmed_.pop_front();
    if (std::exchange(worker_, said.worker) != said.worker) waiting_.clear();  // the master gave them to others
    for (auto number = said.first; number < said.first + said.frames; ++number) {
      if (number >= received_) waiting_.push_back(std::move(frames.front()));
      frames.pop_front();
    }
    received_ = std::max(received_, said.first + said.frames);
  }

  bool pop(FrameHead& head, Bytes& body) {
    if (waiting_.empty() || is_over()) return false;
    std::tie(head, body) = std::move(waiting_.front());
    waiting_.pop_front();
    return true;
  }

  bool is_over() const {
    const std::lock_guard lock(mutex_);
    return over_;
  }
  void end(const std::string& why = {}) {
    const std::lock_guard lock(mutex_);
    if (!over_) reason_ = why;
    over_ = true;
    changed_.notify_all();
  }
  void give_up(const std::string& why) {
    worker_ = Visit::nobody;  // there is nobody to say good-bye to
    end(why);
  }
  void rest(double seconds) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; });
  }

  JoinOptions options_;
  // Of the worker's thread:
  BlockingSocket socket_;
  std::uint64_t worker_ = Visit::nobody;
  std::deque<std::pair<FrameHead, Bytes>> waiting_;      // from the master, for receive()
  std::deque<std::pair<FrameHead, Bytes>> unconfirmed_;  // to the master
  std::uint64_t received_ = 0;                           // frames from the master
  std::uint64_t confirmed_ = 0;                          // frames to the master
  std::uint64_t written_ = 0;                            // the same, and those that the system has
  mutable std::mutex mutex_;                             // of the following
  std::condition_variable changed_;
  bool over_ = false, released_ = false, left_ = false;
  std::uint64_t results_ = 0;
  std::string reason_;
};

}  // namespace

std::unique_ptr<JoinedEndpoint> make_per_item_endpoint(JoinOptions options) {
  return std::make_unique<PerItemEndpoint>(std::move(options));
}

}  // namespace culmen
