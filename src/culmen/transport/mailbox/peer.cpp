#include "culmen/transport/mailbox/peer.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <utility>

namespace culmen {

Peer::Peer(const MailboxMemory::Layout& layout, WorkerId worker, WorkerId number)
    : layout_(layout),
      box_(layout.box(worker)),
      worker_(worker),
      number_(number),
      out_(layout.in_ring(worker)),
      in_(layout.out_ring(worker)) {}

void Peer::set_process(pid_t pid, bool ours) {
  pid_ = pid;
  ours_ = ours;
}

void Peer::report_death(int wait_status) {
  wait_status_ = wait_status;
  dead_.store(true, std::memory_order_release);
}

/// Writes as much as fits. A full ring stays full until the worker, which knows of it now, rings.
FrameWriter::Result Peer::write(const FrameHead& head, BytesView body, std::size_t& written) {
  for (;;) {
    const auto before = written;
    const auto result = out_.write(head, body, written);
    if (written != before) owes_ring_ = true;
    if (!visiting_) ring();
    if (result != FrameWriter::Result::full) return result;
    const auto& producer = out_.producer();
    SpaceLook<> look(producer.ring().words, producer.tail(), producer.ring().size, out_.wanted_bytes(),
                     layout_.hub().closed);
    Found found;
    do found = look.step();
    while (found == Found::go_on);
    if (found == Found::no) return result;
  }
}

void Peer::send(const FrameHead& head, BytesView body) {
  if (gone_ || damaged_) return;
  std::size_t written = 0;
  if (queue_.empty()) {
    const auto result = write(head, body, written);
    if (result == FrameWriter::Result::damaged) note_damage();
    if (result != FrameWriter::Result::full) return;
  }
  queue_.push_back({head, Bytes(body.begin(), body.end()), written});
  queued_bytes_ += sizeof head + body.size() - written;
}

/// Found while sending: the next receive() must report it, whether or not the worker ever rings again.
void Peer::note_damage() {
  damaged_ = true;
  run(Ring<>(layout_.masters_bell(worker_)));
}

void Peer::flush() {
  while (!queue_.empty() && !damaged_) {
    auto& frame = queue_.front();
    const auto before = frame.written;
    const auto result = write(frame.head, frame.body, frame.written);
    queued_bytes_ -= frame.written - before;
    if (result == FrameWriter::Result::full) return;
    damaged_ = result == FrameWriter::Result::damaged;
    queue_.pop_front();
  }
}

void Peer::give_space() {
  auto& consumer = in_.consumer();
  if (consumer.owed() == 0) return;
  consumer.mark_given();
  run(GiveSpace<>(consumer.ring().words, consumer.head(), {layout_.workers_door(worker_)}));
}

/// At most one full ring: later records come with the worker's next ring, so that a fast one does not hold the
/// master.
bool Peer::drain(Transport::Sink& sink) {
  bool any = false;
  FrameHead head;
  BytesView body;
  in_.refresh();
  for (;;) {
    const auto result = in_.next(head, body);
    if (result == FrameReader::Result::nothing) break;
    damaged_ |= result == FrameReader::Result::damaged;
    if (damaged_) break;
    if (result == FrameReader::Result::frame) {
      sink.arrived(worker_, head, body);
      any = true;
    }
    in_.pop();
    if (in_.owes_much()) give_space();
  }
  give_space();
  return any;
}

void Peer::ring() {
  if (!std::exchange(owes_ring_, false)) return;
  run(Ring<>({layout_.workers_door(worker_)}));
  if (layout_.poll_bells != nullptr) layout_.poll_bells[worker_].ring();
}

/// One ring for all frames that the sink sends meanwhile; also if the sink throws.
bool Peer::visit(Transport::Sink& sink) {
  struct End {
    ~End() {
      peer.visiting_ = false;
      peer.ring();
    }
    Peer& peer;
  } const end{*this};
  visiting_ = true;
  return look(sink);
}

bool Peer::look(Transport::Sink& sink) {
  if (gone_) return false;
  // Both are read before the ring: a worker's frames precede its leaving and its death.
  const bool died = dead();
  const auto state = this->state();
  damaged_ |= state > BoxState::left;
  bool any = false;
  if (!announced_ && state != BoxState::empty && !damaged_) {
    announced_ = any = true;
    sink.joined(worker_);
  }
  if (!damaged_) any |= drain(sink);
  flush();
  if (!died && !damaged_ && state != BoxState::left) return any;
  gone_ = true;
  queue_.clear();
  queued_bytes_ = 0;
  sink.lost(worker_, damaged_ ? fmt::format("worker {}: its mailbox is damaged", number_)
                     : died   ? how_it_died()
                              : fmt::format("worker {} left", number_));
  return true;
}

std::string Peer::how_it_died() const {
  const auto who = fmt::format("worker {} (process {})", number_, pid_);
  if (wait_status_ == -1) return who + " died";
  if (WIFSIGNALED(wait_status_)) return fmt::format("{} died by signal {}", who, WTERMSIG(wait_status_));
  return fmt::format("{} ended with exit code {}", who, WEXITSTATUS(wait_status_));
}

}  // namespace culmen
