#include "culmen/transport/mailbox/ring.hpp"

#include <algorithm>

namespace culmen {

namespace {
struct RecordHead {
  std::uint32_t bytes;
  std::uint32_t flags;
};
static_assert(sizeof(RecordHead) == RingView::overhead_bytes);
}  // namespace

RingProducer::Room RingProducer::room(std::uint32_t payload) {
  const auto needed = RingView::record_bytes(payload);
  if (ring_.size - (tail_ - head_seen_) >= needed) return Room::yes;
  const auto head = ring_.words.head->load(std::memory_order_acquire);
  const auto used = tail_ - head;
  if (used > tail_ - head_seen_) return Room::damaged;
  head_seen_ = head;
  return ring_.size - used >= needed ? Room::yes : Room::no;
}

void RingProducer::copy_in(std::uint32_t at, BytesView bytes) {
  if (bytes.empty()) return;
  const std::size_t begin = at & (ring_.size - 1);
  const auto until_end = std::min(bytes.size(), ring_.size - begin);
  std::memcpy(ring_.data + begin, bytes.data(), until_end);
  if (until_end < bytes.size()) std::memcpy(ring_.data, bytes.data() + until_end, bytes.size() - until_end);
}

void RingProducer::put(std::uint32_t flags, BytesView a, BytesView b) {
  const auto bytes = static_cast<std::uint32_t>(a.size() + b.size());
  const RecordHead head{bytes, flags};
  std::memcpy(ring_.data + (tail_ & (ring_.size - 1)), &head, sizeof head);
  copy_in(tail_ + RingView::overhead_bytes, a);
  copy_in(tail_ + RingView::overhead_bytes + static_cast<std::uint32_t>(a.size()), b);
  tail_ += RingView::record_bytes(bytes);
  ring_.words.tail->store(tail_, std::memory_order_release);
}

RingConsumer::Look RingConsumer::look(Record& record) const {
  const auto available = tail_seen_ - head_;
  if (available == 0) return Look::empty;
  if (available > ring_.size || available % 8 != 0) return Look::damaged;
  RecordHead head;
  std::memcpy(&head, ring_.data + (head_ & (ring_.size - 1)), sizeof head);
  if (head.flags > (FragmentFlags::first | FragmentFlags::last) || head.bytes > ring_.largest_payload())
    return Look::damaged;
  if (RingView::record_bytes(head.bytes) > available) return Look::damaged;
  const std::size_t begin = (head_ + RingView::overhead_bytes) & (ring_.size - 1);
  const auto until_end = std::min<std::size_t>(head.bytes, ring_.size - begin);
  record.first = head.flags & FragmentFlags::first;
  record.last = head.flags & FragmentFlags::last;
  record.a = {ring_.data + begin, until_end};
  record.b = {ring_.data, head.bytes - until_end};
  return Look::record;
}

}  // namespace culmen
