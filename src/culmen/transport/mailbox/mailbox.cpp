#include "culmen/transport/mailbox/mailbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <utility>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/transport/mailbox/peer.hpp"
#include "culmen/transport/mailbox/watcher.hpp"

namespace culmen {

struct MailboxTransport::Impl {
  Impl(std::shared_ptr<MailboxMemory> shared, WorkerId first_number)
      : memory(std::move(shared)),
        layout(memory->layout()),
        deaths(layout.ready_words()),
        watcher([this](WorkerId worker, int status) { note_death(worker, status); }) {
    for (WorkerId worker = 0; worker < layout.workers; ++worker)
      peers.emplace_back(layout, worker, first_number + worker);
  }

  void check(WorkerId worker) const {
    if (worker >= peers.size())
      throw InputError(
          fmt::format("worker {} does not exist: this mailbox has workers 0 to {}", worker, peers.size() - 1));
  }
  /// The watcher's thread. It rings as the worker would have, and the master checks that worker even if its bit is
  /// lost.
  void note_death(WorkerId worker, int wait_status) {
    peers[worker].report_death(wait_status);
    deaths[worker / 64].fetch_or(std::uint64_t{1} << worker % 64, std::memory_order_release);
    run(Ring<>(layout.masters_bell(worker)));
  }
  std::uint64_t take(std::size_t i) {
    const auto rung = take(layout.ready(i)) | take(deaths[i]);
    const auto here = peers.size() - i * 64;
    return here < 64 ? rung & ((std::uint64_t{1} << here) - 1) : rung;
  }
  static std::uint64_t take(ReadyWord& word) {
    return word.load(std::memory_order_relaxed) ? word.exchange(0, std::memory_order_acquire) : 0;
  }

  void ring_everyone() {
    for (WorkerId worker = 0; worker < peers.size(); ++worker) {
      run(Ring<>({layout.workers_door(worker)}));
      run(Ring<>({layout.closing_door(worker)}));
    }
  }
  /// Sleeps until every peer is as `left` says, or the deadline has passed; then it returns false.
  template <class Left>
  bool wait_while_any(Left left, double deadline_s) {
    for (;;) {
      const auto bell = layout.hub().bell.load(std::memory_order_seq_cst);
      if (std::none_of(peers.begin(), peers.end(), left)) return true;
      const auto rest_s = deadline_s - clock.now_s();
      if (rest_s <= 0) return false;
      run(Sleep<>(layout.masters_door(), bell), rest_s);
    }
  }

  std::shared_ptr<MailboxMemory> memory;
  const MailboxMemory::Layout& layout;
  SteadyClock clock;
  std::deque<Peer> peers;
  std::vector<ReadyWord> deaths;
  std::uint32_t seen = 0;  // the bell before the last check
  std::atomic<bool> woken = false;
  std::size_t remaining = 0;
  bool closed = false;
  bool waited = false;     // in close()
  ProcessWatcher watcher;  // last: its thread uses all other members
};

MailboxTransport::MailboxTransport(std::shared_ptr<MailboxMemory> memory, WorkerId first_number)
    : impl_(std::make_unique<Impl>(std::move(memory), first_number)) {}

MailboxTransport::~MailboxTransport() { close(0); }

void MailboxTransport::watch(WorkerId worker, const ProcessId& process, bool ours) {
  impl_->check(worker);
  auto& peer = impl_->peers[worker];
  peer.set_process(process.pid, ours);
  try {
    impl_->watcher.watch(worker, process, ours);
  } catch (...) {  // its death would not be noticed, so close() would wait for ever
    if (ours) {
      kill_group(process.pid);
      reap(process.pid);
    }
    peer.set_process(0, false);
    throw;
  }
}

void MailboxTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  impl_->check(worker);
  if (body.size() > largest_body_bytes)
    throw TransportError(
        fmt::format("a frame of {} bytes: a mailbox carries at most {}", body.size(), largest_body_bytes));
  if (!impl_->closed) impl_->peers[worker].send(head, body);
}

bool MailboxTransport::receive(Sink& sink) {
  if (impl_->closed) return false;
  impl_->seen = impl_->layout.hub().bell.load(std::memory_order_seq_cst);
  bool any = false;
  for (std::size_t i = 0; i < impl_->deaths.size(); ++i)
    for (auto bits = impl_->take(i); bits != 0; bits &= bits - 1)
      any |= impl_->peers[i * 64 + std::countr_zero(bits)].visit(sink);
  return any;
}

void MailboxTransport::sleep(double at_most_s) {
  if (!impl_->woken.load(std::memory_order_acquire)) run(Sleep<>(impl_->layout.masters_door(), impl_->seen), at_most_s);
  impl_->woken.store(false, std::memory_order_release);
}

void MailboxTransport::wake() noexcept {
  impl_->woken.store(true, std::memory_order_release);
  run(Ring<>({impl_->layout.masters_door()}));
}

bool MailboxTransport::dismiss() {
  if (std::exchange(impl_->closed, true)) return true;
  impl_->layout.hub().closed.store(1, std::memory_order_seq_cst);
  impl_->ring_everyone();
  return true;
}

void MailboxTransport::close(double grace_s) {
  if (std::exchange(impl_->waited, true)) return;
  dismiss();
  const auto remains = [](const Peer& peer) { return peer.present() || peer.holds_process(); };
  if (impl_->wait_while_any(remains, impl_->clock.now_s() + grace_s)) return;
  const auto stays = [](const Peer& peer) { return peer.present() && !peer.holds_process(); };
  impl_->remaining = static_cast<std::size_t>(std::count_if(impl_->peers.begin(), impl_->peers.end(), stays));
  const auto ours = [](const Peer& peer) { return peer.holds_process(); };
  for (const auto& peer : impl_->peers)
    if (ours(peer)) kill_group(peer.pid());
  impl_->wait_while_any(ours, forever_s);
}

std::size_t MailboxTransport::remaining() const { return impl_->remaining; }

std::size_t MailboxTransport::queued_bytes() const {
  std::size_t bytes = 0;
  for (const auto& peer : impl_->peers) bytes += peer.queued_bytes();
  return bytes;
}

}  // namespace culmen
