#include "culmen/transport/relay/parcels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

constexpr std::size_t fragment_bytes = std::size_t{32} << 10;
constexpr std::size_t least_fragment_bytes = 1024;
constexpr std::size_t largest_content = sizeof(FrameHead) + (std::size_t{1} << 30);
constexpr std::uint32_t is_last = 1;

/// In front of every fragment.
struct FragmentHead {
  std::uint32_t worker, kind, flags, bytes;
};

/// Those of no worker may follow a frame of worker 0 whose end is never sent.
bool is_of_worker(ParcelKind kind) { return kind <= ParcelKind::lost; }

void append_to(Bytes& out, BytesView more) { out.insert(out.end(), more.begin(), more.end()); }

}  // namespace

std::pair<FrameHead, BytesView> frame_in(const Parcel& parcel) {
  FrameHead head;
  if (parcel.content.size() < sizeof head) throw Error("a frame that is shorter than its head");
  std::memcpy(&head, parcel.content.data(), sizeof head);
  return {head, parcel.content.subspan(sizeof head)};
}

void Outbox::append(WorkerId worker, ParcelKind kind, bool whole, BytesView first, BytesView second) {
  const FragmentHead head{worker, static_cast<std::uint32_t>(kind), whole ? is_last : 0,
                          static_cast<std::uint32_t>(first.size() + second.size())};
  append_to(message_, std::as_bytes(std::span(&head, 1)));
  append_to(message_, first);
  append_to(message_, second);
}

void Outbox::add(WorkerId worker, ParcelKind kind, BytesView first, BytesView second) {
  const auto bytes = first.size() + second.size();
  if (worker >= queues_.size()) queues_.resize(worker + 1);
  auto& queue = queues_[worker];
  if (queue.empty() && message_.size() + sizeof(FragmentHead) + bytes <= Line::largest_message)
    return append(worker, kind, true, first, second);
  if (queue.empty()) turns_.push_back(worker);
  auto& waiting = queue.emplace_back(Waiting{kind, {}});
  waiting.content.reserve(bytes);
  append_to(waiting.content, first);
  append_to(waiting.content, second);
  queued_bytes_ += bytes;
}

void Outbox::fill() {
  while (!turns_.empty()) {
    const auto used = message_.size() + sizeof(FragmentHead);
    const auto room = used < Line::largest_message ? Line::largest_message - used : 0;
    const auto worker = turns_.front();
    auto& queue = queues_[worker];
    auto& next = queue.front();
    const auto left = next.content.size() - next.written;
    if (room < std::min(left, least_fragment_bytes)) return;
    const auto n = std::min({left, room, fragment_bytes});
    append(worker, next.kind, n == left, BytesView(next.content).subspan(next.written, n), {});
    next.written += n;
    queued_bytes_ -= n;
    if (n == left) queue.pop_front();
    turns_.pop_front();
    if (!queue.empty()) turns_.push_back(worker);
  }
}

void Outbox::flush(Line& line, std::size_t peer) {
  for (;;) {
    fill();
    if (message_.empty() || !line.send(peer, message_)) return;
    ++messages_;
    message_.clear();
  }
}

void Outbox::clear() {
  message_.clear();
  queues_.clear();
  turns_.clear();
  queued_bytes_ = 0;
}

void Inbox::read(BytesView message, std::size_t workers, const std::function<void(const Parcel&)>& take) {
  ByteReader in(message);
  while (in.left() > 0) {
    FragmentHead head;
    const auto bytes = in.take(sizeof head);
    std::memcpy(&head, bytes.data(), sizeof head);
    if (head.worker >= std::max<std::size_t>(1, workers) || head.kind < 1 ||
        head.kind > static_cast<std::uint32_t>(ParcelKind::alive))
      throw Error(fmt::format("a parcel of kind {} for worker {} of {}", head.kind, head.worker, workers));
    const auto content = in.take(head.bytes);
    const auto kind = static_cast<ParcelKind>(head.kind);
    const bool whole = head.flags & is_last;
    if (head.worker >= begun_.size()) begun_.resize(head.worker + 1);
    auto& begun = begun_[head.worker];
    if (whole && (begun.empty() || !is_of_worker(kind))) {
      take({head.worker, kind, content});
      continue;
    }
    if (begun.size() + content.size() > largest_content) throw Error("a parcel of more than 1 GiB");
    append_to(begun, content);
    if (!whole) continue;
    const auto joined = std::exchange(begun, {});
    take({head.worker, kind, joined});
  }
}

}  // namespace culmen
