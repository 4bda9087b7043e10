#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/transport/mailbox/frames.hpp"
#include "culmen/transport/mailbox/layout.hpp"

namespace culmen {

struct MailboxEndpoint::Impl {
  Impl(std::shared_ptr<MailboxMemory> shared, WorkerId number)
      : memory(std::move(shared)),
        layout(memory->layout()),
        worker(number),
        box(layout.box(worker)),
        out(layout.out_ring(worker)),
        in(layout.in_ring(worker)),
        door(layout.workers_door(worker)),
        masters_bell(layout.masters_bell(worker)) {}

  bool closed() const { return layout.hub().closed.load(std::memory_order_acquire) != 0; }
  void give_space() {
    auto& consumer = in.consumer();
    consumer.mark_given();
    run(GiveSpace<>(consumer.ring().words, consumer.head(), masters_bell));
  }
  void await_frame() {
    run(Await(door, FrameLook(in.consumer().ring().words, in.consumer().head(), layout.hub().closed)));
  }
  void await_space() {
    const auto& producer = out.producer();
    run(Await(door, SpaceLook<>(producer.ring().words, producer.tail(), producer.ring().size, out.wanted_bytes(),
                                layout.hub().closed)));
  }
  [[noreturn]] void damaged() const { throw TransportError(fmt::format("worker {}: its mailbox is damaged", worker)); }

  std::shared_ptr<MailboxMemory> memory;
  const MailboxMemory::Layout& layout;
  const WorkerId worker;
  Box& box;
  FrameWriter out;
  FrameReader in;
  const Door door;
  const Bell masters_bell;
  Word released = 0;
};

namespace {
std::shared_ptr<MailboxMemory> checked(std::shared_ptr<MailboxMemory> memory, WorkerId worker) {
  if (worker >= memory->workers())
    throw InputError(
        fmt::format("worker {} does not exist: this mailbox has workers 0 to {}", worker, memory->workers() - 1));
  return memory;
}
}  // namespace

MailboxEndpoint::MailboxEndpoint(std::shared_ptr<MailboxMemory> memory, WorkerId worker)
    : impl_(std::make_unique<Impl>(checked(std::move(memory), worker), worker)) {
  auto empty = static_cast<std::uint32_t>(BoxState::empty);
  if (!impl_->box.worker.state.compare_exchange_strong(empty, static_cast<std::uint32_t>(BoxState::joined)))
    throw TransportError(fmt::format("worker {} has joined before: each worker's box can be used only once", worker));
  run(Ring<>(impl_->masters_bell));
}

MailboxEndpoint::~MailboxEndpoint() {
  impl_->box.worker.state.store(static_cast<std::uint32_t>(BoxState::left), std::memory_order_release);
  run(Ring<>(impl_->masters_bell));
}

bool MailboxEndpoint::receive(FrameHead& head, Bytes& body) {
  while (!impl_->closed()) {
    if (try_receive(head, body)) return true;
    if (!impl_->closed()) impl_->await_frame();
  }
  return false;
}

bool MailboxEndpoint::try_receive(FrameHead& head, Bytes& body) {
  BytesView view;
  while (!impl_->closed()) {
    impl_->in.refresh();
    const auto result = impl_->in.next(head, view);
    if (result == FrameReader::Result::damaged) impl_->damaged();
    if (result == FrameReader::Result::nothing) return false;
    if (result == FrameReader::Result::frame) body.assign(view.begin(), view.end());
    impl_->in.pop();
    impl_->give_space();
    if (result == FrameReader::Result::frame) return true;
  }
  return false;
}

int MailboxEndpoint::arrivals() {
  if (impl_->layout.poll_bells == nullptr) return -1;
  auto& bell = impl_->layout.poll_bells[impl_->worker];
  const int fd = bell.listen();
  RingConsumer::Record record;
  impl_->in.refresh();
  if (fd >= 0 && impl_->in.consumer().look(record) != RingConsumer::Look::empty) bell.ring();
  return fd;
}

bool MailboxEndpoint::send(const FrameHead& head, BytesView body) {
  if (body.size() > largest_body_bytes)
    throw TransportError(
        fmt::format("a frame of {} bytes: a mailbox carries at most {}", body.size(), largest_body_bytes));
  std::size_t written = 0;
  while (!impl_->closed()) {
    const auto before = written;
    const auto result = impl_->out.write(head, body, written);
    if (written != before) run(Ring<>(impl_->masters_bell));
    if (result == FrameWriter::Result::whole) return true;
    if (result == FrameWriter::Result::damaged) impl_->damaged();
    impl_->await_space();
  }
  return false;
}

void MailboxEndpoint::wait_closed() {
  run(Await(impl_->layout.closing_door(impl_->worker), FlagLook(impl_->layout.hub().closed, impl_->released)));
}

void MailboxEndpoint::release() noexcept {
  impl_->released.store(1, std::memory_order_seq_cst);
  run(Ring<>({impl_->layout.closing_door(impl_->worker)}));
}

bool MailboxEndpoint::closed() const noexcept { return impl_->closed(); }

}  // namespace culmen
