#include "culmen/transport/mailbox/frames.hpp"

#include <algorithm>

namespace culmen {

FrameWriter::Result FrameWriter::write(const FrameHead& head, BytesView body, std::size_t& written) {
  const auto head_bytes = std::as_bytes(std::span(&head, 1));
  const auto all = head_bytes.size() + body.size();
  while (written < all) {
    const auto n = std::min<std::size_t>(all - written, producer_.ring().largest_payload());
    const auto room = producer_.room(static_cast<std::uint32_t>(n));
    if (room == RingProducer::Room::damaged) return Result::damaged;
    if (room == RingProducer::Room::no) {
      wanted_bytes_ = RingView::record_bytes(static_cast<std::uint32_t>(n));
      return Result::full;
    }
    const auto flags = (written == 0 ? FragmentFlags::first : 0) | (written + n == all ? FragmentFlags::last : 0);
    const bool with_head = written == 0;
    const auto a = with_head ? head_bytes : BytesView{};
    const auto b = with_head ? body.first(n - head_bytes.size()) : body.subspan(written - head_bytes.size(), n);
    producer_.put(flags, a, b);
    written += n;
  }
  return Result::whole;
}

namespace {
constexpr std::size_t growth = 4;  // of the buffer for a large frame, so that the frame is rarely copied again

void append(Bytes& bytes, BytesView more) {
  const auto size = bytes.size() + more.size();
  if (size > bytes.capacity()) make_room(bytes, std::min(growth * size, sizeof(FrameHead) + largest_body_bytes));
  bytes.insert(bytes.end(), more.begin(), more.end());
}
}  // namespace

FrameReader::Result FrameReader::next(FrameHead& head, BytesView& body) {
  const auto look = consumer_.look(record_);
  if (look == RingConsumer::Look::empty) return Result::nothing;
  if (look == RingConsumer::Look::damaged || record_.first == assembling_) return Result::damaged;
  if (record_.first && record_.last && record_.b.empty()) {
    if (record_.a.size() < sizeof head) return Result::damaged;
    std::memcpy(&head, record_.a.data(), sizeof head);
    body = record_.a.subspan(sizeof head);
    return Result::frame;
  }
  append(assembled_, record_.a);
  append(assembled_, record_.b);
  assembling_ = !record_.last;
  if (assembled_.size() > sizeof head + largest_body_bytes) return Result::damaged;
  if (assembling_) return Result::part;
  if (assembled_.size() < sizeof head) return Result::damaged;
  std::memcpy(&head, assembled_.data(), sizeof head);
  body = BytesView(assembled_).subspan(sizeof head);
  return Result::frame;
}

void FrameReader::pop() {
  consumer_.pop(record_);
  if (assembling_ || assembled_.empty()) return;
  const bool large = assembled_.capacity() > consumer_.ring().size;
  if (large) Bytes().swap(assembled_);
  assembled_.clear();
}

}  // namespace culmen
