#include "culmen/transport/network/per_item_endpoint.hpp"

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
#include "culmen/transport/network/wire.hpp"

namespace culmen {
namespace {
constexpr std::size_t own_write_bytes = std::size_t{64} << 10;  // such a body is not copied
constexpr double first_rest_s = 0.05, longest_rest_s = 5;

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
}  // namespace

struct PerItemEndpoint::Impl {
  explicit Impl(JoinOptions given) : options(std::move(given)) {}

  /// Connects and says what it brings; the answer is not read yet.
  void begin_visit(BlockingSocket& by, bool waits, bool leaves) {
    by.connect(options.address);
    Visit said;
    said.greeting = {options.token, options.work, fmt::format("{}:{}", host_name(), getpid())};
    said.worker = worker;
    said.received = received;
    said.first = confirmed;
    said.frames = unconfirmed.size();
    said.waits = waits;
    said.leaves = leaves;
    Bytes out;
    append_frame(out, head_of(visit), encode(said));
    for (const auto& [head, body] : unconfirmed) {
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
  }

  /// Reads the answer of the visit, which it begins if there is none. Tries again until the patience ends. False at the
  /// end of the study. Throws InputError if the master refuses.
  bool finish_visit(bool waits) {
    const SteadyClock clock;
    const auto until = clock.now_s() + options.patience_s;
    for (auto pause_s = first_rest_s; !is_over(); pause_s = std::min(longest_rest_s, 2 * pause_s)) {
      std::string why;
      try {
        if (!socket.is_open()) begin_visit(socket, waits, false);
        const auto block = socket.read_all();
        socket.close();
        hear(block);
        return !is_over();
      } catch (const InputError&) {
        throw;
      } catch (const Error& e) {
        why = e.what();
      }
      socket.close();
      if (clock.now_s() >= until) give_up(fmt::format("{}: {}", to_string(options.address), why));
      rest(pause_s);
    }
    return false;
  }

  void hear(BytesView block) {
    auto frames = frames_in(block);
    const auto [head, body] = std::move(frames.front());
    frames.pop_front();
    if (head.kind == bye) return end();
    if (head.kind == refusal) throw InputError(fmt::format("{}: {}", to_string(options.address), text_in(body)));
    if (head.kind != answer) throw Error("it gave no answer");
    const auto said = decode_answer(body);
    if (frames.size() != said.frames) throw Error("the connection ended early");
    for (; confirmed < said.received && !unconfirmed.empty(); ++confirmed) unconfirmed.pop_front();
    if (std::exchange(worker, said.worker) != said.worker) waiting.clear();  // the master gave them to others
    for (auto number = said.first; number < said.first + said.frames; ++number) {
      if (number >= received) waiting.push_back(std::move(frames.front()));
      frames.pop_front();
    }
    received = std::max(received, said.first + said.frames);
  }

  bool pop(FrameHead& head, Bytes& body) {
    if (waiting.empty() || is_over()) return false;
    std::tie(head, body) = std::move(waiting.front());
    waiting.pop_front();
    return true;
  }

  bool is_over() const {
    const std::lock_guard lock(mutex);
    return over;
  }
  void end(const std::string& why = {}) {
    const std::lock_guard lock(mutex);
    if (!over) reason = why;
    over = true;
    changed.notify_all();
  }
  void give_up(const std::string& why) {
    worker = Visit::nobody;  // there is nobody to say good-bye to
    end(why);
  }
  void rest(double seconds) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over; });
  }

  JoinOptions options;
  // Of the worker's thread:
  BlockingSocket socket;
  std::uint64_t worker = Visit::nobody;
  std::deque<std::pair<FrameHead, Bytes>> waiting;      // from the master, for receive()
  std::deque<std::pair<FrameHead, Bytes>> unconfirmed;  // to the master
  std::uint64_t received = 0;                           // frames from the master
  std::uint64_t confirmed = 0;                          // frames to the master
  mutable std::mutex mutex;                             // of the following
  std::condition_variable changed;
  bool over = false, released = false, left = false;
  std::string reason;
};

PerItemEndpoint::PerItemEndpoint(JoinOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {
  if (!impl_->finish_visit(false) && !trouble().empty()) throw TransportError(trouble());
}

/// If the worker leaves before the end of the study, it says so.
PerItemEndpoint::~PerItemEndpoint() {
  leave();
  if (!impl_->left || impl_->worker == Visit::nobody) return;
  try {
    BlockingSocket last;
    impl_->begin_visit(last, false, true);
    last.read_all();
  } catch (const std::exception&) {  // the master is gone, too
  }
}

void PerItemEndpoint::leave() noexcept {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->left = !std::exchange(impl_->over, true) || impl_->left;
    impl_->changed.notify_all();
  }
  impl_->socket.interrupt();
}

bool PerItemEndpoint::receive(FrameHead& head, Bytes& body) {
  while (!impl_->pop(head, body))
    if (!impl_->finish_visit(true)) return false;
  return true;
}

bool PerItemEndpoint::try_receive(FrameHead& head, Bytes& body) { return impl_->pop(head, body); }

/// If the worker has no other item, the visit that hands in the frame also waits for the next one.
bool PerItemEndpoint::send(const FrameHead& head, BytesView body) {
  auto& it = *impl_;
  if (it.is_over()) return false;
  it.unconfirmed.emplace_back(head, Bytes(body.begin(), body.end()));
  const bool waits = it.waiting.empty() && !it.socket.is_open();
  it.socket.close();
  if (!waits) return it.finish_visit(false);
  try {
    it.begin_visit(it.socket, true, false);
  } catch (const TransportError&) {  // receive() tries again
    it.socket.close();
  }
  return !it.is_over();
}

void PerItemEndpoint::wait_closed() {
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait(lock, [this] { return impl_->over || impl_->released; });
}

void PerItemEndpoint::release() noexcept {
  const std::lock_guard lock(impl_->mutex);
  impl_->released = true;
  impl_->changed.notify_all();
}

bool PerItemEndpoint::closed() const noexcept { return impl_->is_over(); }

std::string PerItemEndpoint::trouble() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->reason;
}

}  // namespace culmen
