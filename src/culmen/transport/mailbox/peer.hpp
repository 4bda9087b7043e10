// The master's records of each worker, in its own memory.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <deque>
#include <string>

#include "culmen/transport/mailbox/frames.hpp"
#include "culmen/transport/mailbox/layout.hpp"

namespace culmen {

/// One worker as the master sees it. The engine's thread, but for report_death().
class Peer {
 public:
  /// `number`: of the worker, in messages.
  Peer(const MailboxMemory::Layout& layout, WorkerId worker, WorkerId number);

  /// Writes to the ring as much as fits and queues the rest.
  void send(const FrameHead& head, BytesView body);
  /// Delivers the content of the ring and sends queued frames; true if something was delivered.
  bool visit(Transport::Sink& sink);

  void set_process(pid_t pid, bool ours);
  /// The watcher's thread, before it rings.
  void report_death(int wait_status);

  /// Joined, has not left, and is not known to be dead.
  bool present() const { return state() == BoxState::joined && !dead(); }
  /// A process of ours that is not known to be dead.
  bool holds_process() const { return ours_ && !dead(); }
  pid_t pid() const { return pid_; }
  std::size_t queued_bytes() const { return queued_bytes_; }

 private:
  struct Outgoing {
    FrameHead head;
    Bytes body;
    std::size_t written;
  };
  BoxState state() const { return static_cast<BoxState>(box_.worker.state.load(std::memory_order_acquire)); }
  bool dead() const { return dead_.load(std::memory_order_acquire); }
  FrameWriter::Result write(const FrameHead& head, BytesView body, std::size_t& written);
  bool look(Transport::Sink& sink);
  void ring();
  void note_damage();
  void flush();
  bool drain(Transport::Sink& sink);
  void give_space();
  std::string how_it_died() const;

  const MailboxMemory::Layout& layout_;
  Box& box_;
  const WorkerId worker_, number_;
  FrameWriter out_;
  FrameReader in_;
  std::deque<Outgoing> queue_;
  std::size_t queued_bytes_ = 0;
  pid_t pid_ = 0;
  bool ours_ = false;
  bool visiting_ = false, owes_ring_ = false;
  bool announced_ = false;  // joined() was called
  bool damaged_ = false;
  bool gone_ = false;  // lost() was called
  int wait_status_ = -1;
  std::atomic<bool> dead_ = false;
};

}  // namespace culmen
