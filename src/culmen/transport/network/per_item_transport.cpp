// The master's side of TCP with a connection for each item. It is the baseline of benchmarks, and slow: a worker
// connects, hands in its result, waits for its next item, and the connection ends.
#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/base/span.hpp"
#include "culmen/transport/network/kinds.hpp"
#include "culmen/transport/network/listening_transport.hpp"

#include <boost/asio/use_awaitable.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using Moment = std::chrono::steady_clock::time_point;

struct Visitor {
  std::deque<std::pair<FrameHead, Bytes>> frames;  // for it, and not confirmed
  std::uint64_t first = 0;                         // number of the first of them
  std::uint64_t received = 0;                      // frames of it
  std::size_t undelivered = 0;                     // blocks of its frames
  bool waits = false;
  std::shared_ptr<Connection> here;  // null: it is away
  Moment away_since;
};

/// The frames of one visit.
struct Brought {
  Visit said;
  Bytes frames;
};

/// No frame is lost with a connection: both sides repeat what the other one has not confirmed. A worker without a
/// connection may be evaluating, or dead: it is lost after ListenOptions::absence_s.
class PerItemTransport final : public ListeningTransport {
 public:
  explicit PerItemTransport(ListenOptions options) : ListeningTransport(std::move(options)) {
    run(watch_absences());
    start();
  }
  ~PerItemTransport() override {
    PerItemTransport::close(0);
    end();
  }

  std::size_t connected() const override {
    const std::lock_guard lock(mutex_);
    return visitors_.size();
  }

  void send(WorkerId worker, const FrameHead& head, BytesView body) override {
    const std::lock_guard lock(mutex_);
    const auto found = visitors_.find(worker);
    if (found == visitors_.end()) return;
    found->second.frames.emplace_back(head, Bytes(body.begin(), body.end()));
    answer_if_due(worker, found->second);
  }

  /// One who is away comes as a new worker.
  void turn_away(WorkerId worker, const std::string& why) override {
    const std::lock_guard lock(mutex_);
    const auto found = visitors_.find(worker);
    if (found == visitors_.end()) return;
    if (found->second.here) found->second.here->part(refusal, why);
    lose(worker, why);
  }

  bool dismiss() override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closing_, true)) return true;
    arrivals_.close();
    std::vector<std::pair<WorkerId, std::shared_ptr<Connection>>> there;
    for (const auto& [worker, visitor] : visitors_)
      if (visitor.here) there.emplace_back(worker, visitor.here);
    for (const auto& [worker, connection] : there) say_bye(worker, *connection);
    return true;
  }

  void close(double grace_s) override {
    dismiss();
    {
      std::unique_lock lock(mutex_);
      const std::chrono::duration<double> grace(std::clamp(grace_s, 0.0, longest_close_s));
      all_left_.wait_for(lock, grace, [this] { return visitors_.empty(); });
      visitors_.clear();
    }
    stop_accepting();
  }

 private:
  asio::awaitable<void> watch_absences() {
    asio::steady_timer timer(executor());
    while (true) {
      timer.expires_after(span_of(options().absence_s / 4));
      co_await timer.async_wait(use_awaitable);
      const auto latest = std::chrono::steady_clock::now() - span_of(options().absence_s);
      const std::lock_guard lock(mutex_);
      for (auto v = visitors_.begin(); v != visitors_.end();) {
        const auto next = std::next(v);
        if (!v->second.here && v->second.away_since < latest) lose(v->first, "it has not come back");
        v = next;
      }
    }
  }

  asio::awaitable<void> serve(std::shared_ptr<Connection> connection) override {
    WorkerId worker = 0;
    try {
      co_await connection->open();
      Brought brought;
      std::string objection;
      try {
        brought = co_await listen_to(connection);
        objection = objection_to(brought.said.greeting);
      } catch (const Error& e) {
        objection = e.what();
      }
      if (!objection.empty()) co_return refuse(*connection, objection);
      worker = enter(connection, std::move(brought));
      co_await connection->read(0);  // nothing comes: this waits for the end
    } catch (const std::exception&) {
      // The worker comes again, or is lost after a while.
    }
    connection->cut();
    leave(worker, connection);
  }

  asio::awaitable<Brought> listen_to(std::shared_ptr<Connection> connection) {
    Brought brought;
    Bytes block;
    {
      const auto handshake = begin_handshake(connection);
      const auto deadline = connection->part_after(options().handshake_s, why_late());
      block = co_await connection->read(greeting_bytes);
    }
    FrameHead head;
    BytesView rest = block, body;
    next_frame(rest, head, body);
    if (head.kind != visit) throw Error("it did not say its visit first");
    brought.said = decode_visit(body);
    if (!objection_to(brought.said.greeting).empty()) co_return brought;  // a stranger's frames are not read
    brought.frames.assign(rest.begin(), rest.end());
    // A worker repeats what was not confirmed: usually one result, sometimes two.
    const auto most_bytes = 2 * options().largest_body + greeting_bytes;
    for (auto count = count_of(brought.frames); count < brought.said.frames;) {
      block = co_await connection->read(options().largest_body, raise_largest_message, options().stall_s);
      count += count_of(block);
      if (brought.frames.size() + block.size() > most_bytes)
        throw Error(fmt::format("it brought more than {}{}", most_bytes, raise_largest_message));
      if (brought.frames.empty()) brought.frames = std::move(block);
      else brought.frames.insert(brought.frames.end(), block.begin(), block.end());
    }
    co_return brought;
  }

  /// `frames`: whole ones.
  static std::uint64_t count_of(BytesView frames) {
    FrameHead head;
    BytesView body;
    std::uint64_t count = 0;
    while (next_frame(frames, head, body)) ++count;
    return count;
  }

  WorkerId enter(const std::shared_ptr<Connection>& connection, Brought brought) {
    const std::lock_guard lock(mutex_);
    const auto& said = brought.said;
    if (closing_) {
      say_bye(static_cast<WorkerId>(said.worker), *connection);
      return 0;
    }
    auto found = said.worker < next_worker_ ? visitors_.find(static_cast<WorkerId>(said.worker)) : visitors_.end();
    if (found == visitors_.end()) found = admit(said);
    auto& [worker, visitor] = *found;
    if (visitor.here) visitor.here->cut();
    visitor.here = connection;
    visitor.waits = said.waits;
    for (; visitor.first < said.received && !visitor.frames.empty(); ++visitor.first) visitor.frames.pop_front();
    const auto number = worker;
    const bool leaves = said.leaves;
    take(worker, visitor, std::move(brought));
    if (leaves) {
      connection->finish();
      lose(number, "it has left");
    } else {
      answer_if_due(number, visitor);
    }
    return number;
  }

  /// Under the lock, as all that follows.
  std::map<WorkerId, Visitor>::iterator admit(const Visit& said) {
    const auto worker = next_worker_++;
    Visitor visitor;
    visitor.first = said.received;
    visitor.received = said.first;
    arrivals_.add({worker, std::monostate()});
    return visitors_.emplace(worker, std::move(visitor)).first;
  }

  /// Frames that it has brought before are dropped.
  void take(WorkerId worker, Visitor& visitor, Brought brought) {
    const auto count = count_of(brought.frames), first = brought.said.first, known = visitor.received;
    if (first + count <= known) return;
    if (first < known) brought.frames = without(brought.frames, known - first);
    visitor.received = first + count;
    ++visitor.undelivered;
    arrivals_.add({worker, std::move(brought.frames)});
  }

  /// Without its first frames.
  static Bytes without(BytesView frames, std::uint64_t count) {
    FrameHead head;
    BytesView body;
    for (; count > 0; --count) next_frame(frames, head, body);
    return {frames.begin(), frames.end()};
  }

  void answer_if_due(WorkerId worker, Visitor& visitor) {
    if (!visitor.here || visitor.undelivered > 0 || (visitor.waits && visitor.frames.empty())) return;
    visitor.here->send(head_of(culmen::answer),
                       encode(Answer{worker, visitor.received, visitor.first, visitor.frames.size()}));
    for (const auto& [head, body] : visitor.frames) visitor.here->send(head, body);
    visitor.here->finish();
    visitor.here.reset();
    visitor.away_since = std::chrono::steady_clock::now();
  }

  void lose(WorkerId worker, const std::string& why) {
    if (visitors_.erase(worker) > 0) arrivals_.add({worker, why});
  }

  void say_bye(WorkerId worker, Connection& connection) {
    connection.send_last(head_of(bye));
    connection.finish();
    visitors_.erase(worker);
    if (visitors_.empty()) all_left_.notify_all();
  }

  void leave(WorkerId worker, const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    const auto found = visitors_.find(worker);
    if (found == visitors_.end() || found->second.here != connection) return;
    found->second.here.reset();
    found->second.away_since = std::chrono::steady_clock::now();
  }

  void delivered(WorkerId worker, std::size_t /*block_bytes*/) override {
    const std::lock_guard lock(mutex_);
    const auto found = visitors_.find(worker);
    if (found == visitors_.end()) return;
    --found->second.undelivered;
    answer_if_due(worker, found->second);
  }

  mutable std::mutex mutex_;  // of the following
  std::condition_variable all_left_;
  std::map<WorkerId, Visitor> visitors_;
  WorkerId next_worker_ = 0;
  bool closing_ = false;
};

}  // namespace

std::unique_ptr<OpenTransport> make_per_item_transport(ListenOptions options) {
  return std::make_unique<PerItemTransport>(std::move(options));
}

}  // namespace culmen
