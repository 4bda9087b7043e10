// The layout of a mailbox's memory.
#pragma once
#include <atomic>
#include <cstddef>

#include "culmen/transport/mailbox/mailbox.hpp"
#include "culmen/transport/mailbox/ring.hpp"

namespace culmen {

enum class BoxState : std::uint32_t { empty = 0, joined = 1, left = 2 };

/// One worker's words. Each line has one writer, except the bells, which either side may ring.
struct Box {
  struct alignas(64) WorkersLine {
    Word out_tail, out_wants_space, in_head, sleeping, state;
  } worker;
  struct alignas(64) MastersLine {
    Word in_tail, in_wants_space, out_head, bell;
  } master;
  struct alignas(64) ClosingLine {  // the door of wait_closed()
    Word bell, sleeping;
  } closing;
};

/// The beginning of the memory. Members other than Words are written once, before another process attaches.
struct Hub {
  std::uint64_t magic;
  std::uint32_t version;
  std::uint32_t ring_bytes;
  std::uint64_t workers;
  std::uint64_t total_bytes;
  alignas(64) Word bell;
  Word sleeping;
  alignas(64) Word closed;
};

/// Wakes a worker's thread that sleeps in poll() instead of at its door. In the memory of the process that has both
/// sides.
struct PollBell {
  std::atomic<int> fd = -1;  ///< an eventfd, from the first use on
  std::atomic<bool> listens = false;

  PollBell() = default;
  PollBell(const PollBell&) = delete;
  ~PollBell();
  /// For the worker's thread: from now on ring() makes the descriptor readable. -1 if there are no descriptors.
  int listen();
  void ring() noexcept;
};

/// The memory as this process sees it. The sizes are its own copy: no other process can change them.
struct MailboxMemory::Layout {
  std::byte* base = nullptr;
  std::size_t workers = 0;
  std::uint32_t ring_bytes = 0;
  PollBell* poll_bells = nullptr;  ///< one per worker; null if the memory belongs to another process

  static constexpr std::uint64_t magic = 0x3178'6f62'6c69'616d;  // "mailbox1"
  static constexpr std::uint32_t version = 1;

  std::size_t ready_words() const { return (workers + 63) / 64; }
  std::size_t total_bytes() const { return boxes_at() + workers * box_bytes(); }

  Hub& hub() const { return *reinterpret_cast<Hub*>(base); }
  ReadyWord& ready(std::size_t i) const { return *(reinterpret_cast<ReadyWord*>(base + sizeof(Hub)) + i); }
  Box& box(WorkerId worker) const { return *reinterpret_cast<Box*>(box_base(worker)); }

  RingView in_ring(WorkerId worker) const {  // master to worker
    auto& b = box(worker);
    return {
        {&b.master.in_tail, &b.worker.in_head, &b.master.in_wants_space}, box_base(worker) + sizeof(Box), ring_bytes};
  }
  RingView out_ring(WorkerId worker) const {  // worker to master
    auto& b = box(worker);
    return {{&b.worker.out_tail, &b.master.out_head, &b.worker.out_wants_space},
            box_base(worker) + sizeof(Box) + ring_bytes,
            ring_bytes};
  }
  Door masters_door() const { return {&hub().bell, &hub().sleeping}; }
  Door workers_door(WorkerId worker) const { return {&box(worker).master.bell, &box(worker).worker.sleeping}; }
  Door closing_door(WorkerId worker) const { return {&box(worker).closing.bell, &box(worker).closing.sleeping}; }
  /// Worker `worker`, or the watcher for it, rings the master in this way.
  Bell masters_bell(WorkerId worker) const {
    return {masters_door(), &ready(worker / 64), std::uint64_t{1} << worker % 64};
  }

 private:
  std::size_t box_bytes() const { return sizeof(Box) + 2 * std::size_t{ring_bytes}; }
  std::size_t boxes_at() const { return sizeof(Hub) + (ready_words() * sizeof(ReadyWord) + 63) / 64 * 64; }
  std::byte* box_base(WorkerId worker) const { return base + boxes_at() + worker * box_bytes(); }
};

}  // namespace culmen
