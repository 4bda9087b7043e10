#include "culmen/transport/network/per_item_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
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
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace culmen {
namespace {
using asio::use_awaitable;
using asio::ip::tcp;
using Moment = std::chrono::steady_clock::time_point;

constexpr std::size_t most_events = 1024;  // of one receive()
constexpr double longest_close_s = 10;

/// A worker joined (nothing), sent frames (a block of them), or is lost (why).
struct Event {
  WorkerId worker;
  std::variant<std::monostate, Bytes, std::string> what;
};

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
}  // namespace

struct PerItemTransport::Impl {
  explicit Impl(ListenOptions given) : options(std::move(given)), acceptor(asio::make_strand(io)) {
    open_acceptor(acceptor, options);
  }

  void start() {
    const auto begin = [this](auto task) { asio::co_spawn(acceptor.get_executor(), std::move(task), asio::detached); };
    begin([this] { return accept_all(); });
    begin([this] { return watch_absences(); });
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
          make_byte_stream(options.address.scheme, Side::master, std::move(socket), options.address.host, nullptr));
      asio::co_spawn(
          strand, [this, connection] { return receive_visit(connection); }, asio::detached);
    }
  }

  asio::awaitable<void> watch_absences() {
    asio::steady_timer timer(acceptor.get_executor());
    while (true) {
      timer.expires_after(span_of(options.absence_s / 4));
      co_await timer.async_wait(use_awaitable);
      const auto latest = std::chrono::steady_clock::now() - span_of(options.absence_s);
      const std::lock_guard lock(mutex);
      for (auto v = visitors.begin(); v != visitors.end();) {
        const auto next = std::next(v);
        if (!v->second.here && v->second.away_since < latest) lose(v->first, "it has not come back");
        v = next;
      }
    }
  }

  asio::awaitable<void> receive_visit(std::shared_ptr<Connection> connection) {
    WorkerId worker = 0;
    try {
      auto brought = co_await listen_to(*connection);
      if (const auto why = objection_to(brought.said.greeting, options); !why.empty()) {
        connection->send(head_of(refusal), std::as_bytes(std::span(why)));
        connection->finish();
        co_return;
      }
      worker = enter(connection, std::move(brought));
      co_await connection->read(0);  // nothing comes: this waits for the end
    } catch (const std::exception&) {
      // The worker comes again, or is lost after a while.
    }
    connection->cut();
    leave(worker, connection);
  }

  asio::awaitable<Brought> listen_to(Connection& connection) {
    ++handshakes;
    Brought brought;
    Bytes block;
    std::exception_ptr failed;
    {
      const auto deadline = connection.cut_after(options.handshake_s);
      try {
        block = co_await connection.read(greeting_bytes);
      } catch (...) {
        failed = std::current_exception();
      }
    }
    --handshakes;
    if (failed) std::rethrow_exception(failed);
    FrameHead head;
    BytesView rest = block, body;
    next_frame(rest, head, body);
    if (head.kind != visit) throw Error("it did not say its visit first");
    brought.said = decode_visit(body);
    if (!objection_to(brought.said.greeting, options).empty()) co_return brought;  // a stranger's frames are not read
    brought.frames.assign(rest.begin(), rest.end());
    while (count_of(brought.frames) < brought.said.frames) {
      block = co_await connection.read(network_body_bytes);
      if (brought.frames.empty()) brought.frames = std::move(block);
      else brought.frames.insert(brought.frames.end(), block.begin(), block.end());
    }
    co_return brought;
  }

  static std::uint64_t count_of(BytesView frames) {
    FrameHead head;
    BytesView body;
    std::uint64_t count = 0;
    while (next_frame(frames, head, body)) ++count;
    return count;
  }

  WorkerId enter(const std::shared_ptr<Connection>& connection, Brought brought) {
    const std::lock_guard lock(mutex);
    const auto& said = brought.said;
    if (closing) {
      dismiss(static_cast<WorkerId>(said.worker), *connection);
      return 0;
    }
    auto found = said.worker < next_worker ? visitors.find(static_cast<WorkerId>(said.worker)) : visitors.end();
    if (found == visitors.end()) found = admit(said);
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
    const auto worker = next_worker++;
    Visitor visitor;
    visitor.first = said.received;
    visitor.received = said.first;
    happen({worker, std::monostate()});
    return visitors.emplace(worker, std::move(visitor)).first;
  }

  /// Frames that it has brought before are dropped.
  void take(WorkerId worker, Visitor& visitor, Brought brought) {
    const auto count = count_of(brought.frames), first = brought.said.first, known = visitor.received;
    if (first + count <= known) return;
    if (first < known) brought.frames = without(brought.frames, known - first);
    visitor.received = first + count;
    ++visitor.undelivered;
    happen({worker, std::move(brought.frames)});
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
    if (visitors.erase(worker) > 0) happen({worker, why});
  }

  void dismiss(WorkerId worker, Connection& connection) {
    connection.send_at_once(head_of(bye), {});
    connection.finish();
    visitors.erase(worker);
    if (visitors.empty()) all_left.notify_all();
  }

  void happen(Event event) {
    events.push_back(std::move(event));
    if (events.size() > 1) return;
    if (bell) bell();
    else alarm.ring();
  }

  void leave(WorkerId worker, const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex);
    const auto found = visitors.find(worker);
    if (found == visitors.end() || found->second.here != connection) return;
    found->second.here.reset();
    found->second.away_since = std::chrono::steady_clock::now();
  }

  void deliver(const Event& event, Sink& sink) {
    if (std::holds_alternative<std::monostate>(event.what)) return sink.joined(event.worker);
    if (const auto* why = std::get_if<std::string>(&event.what))
      return sink.lost(event.worker, fmt::format("worker {}: {}", event.worker, *why));
    BytesView rest = std::get<Bytes>(event.what), body;
    FrameHead head;
    while (next_frame(rest, head, body)) sink.arrived(event.worker, head, body);
    const std::lock_guard lock(mutex);
    const auto found = visitors.find(event.worker);
    if (found == visitors.end()) return;
    --found->second.undelivered;
    answer_if_due(event.worker, found->second);
  }

  ListenOptions options;
  asio::io_context io;
  tcp::acceptor acceptor;
  const std::string fingerprint;
  Alarm alarm;
  std::function<void()> bell;
  std::atomic<std::size_t> handshakes = 0;
  mutable std::mutex mutex;  // of the following
  std::condition_variable all_left;
  std::map<WorkerId, Visitor> visitors;
  std::deque<Event> events;
  WorkerId next_worker = 0;
  bool closing = false;
  std::vector<std::thread> threads;  // the last member: they use the others
};

PerItemTransport::PerItemTransport(ListenOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  impl_->start();
}

PerItemTransport::~PerItemTransport() {
  close(0);
  impl_->end();
}

const Address& PerItemTransport::address() const { return impl_->options.address; }
const std::string& PerItemTransport::fingerprint() const { return impl_->fingerprint; }

std::size_t PerItemTransport::connected() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->visitors.size();
}

void PerItemTransport::ring(std::function<void()> bell) {
  const std::lock_guard lock(impl_->mutex);
  impl_->bell = std::move(bell);
}

void PerItemTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->visitors.find(worker);
  if (found == impl_->visitors.end()) return;
  found->second.frames.emplace_back(head, Bytes(body.begin(), body.end()));
  impl_->answer_if_due(worker, found->second);
}

bool PerItemTransport::receive(Sink& sink) {
  std::deque<Event> some;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->closing) return false;
    some = take_portion(impl_->events, most_events);
  }
  for (const auto& event : some) impl_->deliver(event, sink);
  return !some.empty();
}

void PerItemTransport::sleep(double at_most_s) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->events.empty() && !impl_->closing) return;
  }
  impl_->alarm.sleep(at_most_s);
}

void PerItemTransport::wake() noexcept { impl_->alarm.ring(); }

bool PerItemTransport::dismiss() {
  const std::lock_guard lock(impl_->mutex);
  if (std::exchange(impl_->closing, true)) return true;
  std::vector<std::pair<WorkerId, std::shared_ptr<Connection>>> there;
  for (const auto& [worker, visitor] : impl_->visitors)
    if (visitor.here) there.emplace_back(worker, visitor.here);
  for (const auto& [worker, connection] : there) impl_->dismiss(worker, *connection);
  return true;
}

void PerItemTransport::close(double grace_s) {
  dismiss();
  {
    std::unique_lock lock(impl_->mutex);
    const std::chrono::duration<double> grace(std::clamp(grace_s, 0.0, longest_close_s));
    impl_->all_left.wait_for(lock, grace, [this] { return impl_->visitors.empty(); });
    impl_->visitors.clear();
  }
  asio::post(impl_->acceptor.get_executor(), [this] { impl_->acceptor.close(); });
}

}  // namespace culmen
