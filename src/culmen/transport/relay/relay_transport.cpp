#include "culmen/transport/relay/relay_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "culmen/base/alarm.hpp"
#include "culmen/base/error.hpp"
#include "culmen/transport/relay/pace.hpp"
#include "culmen/transport/relay/parcels.hpp"

namespace culmen {
namespace {
constexpr int most_messages = 64;  // of one receive()
constexpr double last_flush_s = 1;
constexpr double relay_answers_s = 20;  // after the time that its workers have, for each relay on their way

}  // namespace

struct RelayTransport::Impl {
  struct Relay {
    WorkerId first;  // the master's number of its worker 0
    std::size_t workers;
    Outbox out;
    Inbox in;
    bool is_due = false;  // is in due_
    bool closed = false;
    std::size_t remaining = 0;
    std::vector<char> there = {};  // workers that have joined and are not lost
  };

  Impl(Line& given, const std::vector<std::size_t>& workers, std::size_t relays_on_way)
      : line(given), answers_s(relay_answers_s * static_cast<double>(relays_on_way)) {
    WorkerId first = 0;
    for (const auto n : workers) {
      relays.push_back({first, n, {}, {}, false, false, n, std::vector<char>(n)});
      first += static_cast<WorkerId>(n);
    }
  }

  Relay& relay_of(WorkerId worker) {
    const auto after = std::ranges::upper_bound(relays, worker, {}, &Relay::first);
    return *std::prev(after);
  }

  /// The relay has something to send.
  void note(Relay& relay) {
    if (!std::exchange(relay.is_due, true)) due.push_back(static_cast<std::size_t>(&relay - relays.data()));
  }

  void flush() {
    std::erase_if(due, [this](std::size_t r) {
      auto& relay = relays[r];
      relay.out.flush(line, r);
      relay.is_due = !relay.out.empty();
      return !relay.is_due;
    });
  }

  /// Holds the next message until read(); false if there is none.
  bool look() {
    if (!held) held = line.receive(peer, message);
    return held;
  }

  /// One message; false if there is none. `sink`: null when closing.
  bool read(Sink* sink) {
    if (!look()) return false;
    held = false;
    auto& relay = relays.at(peer);
    relay.in.read(message, relay.workers, [&](const Parcel& parcel) { take(relay, parcel, sink); });
    return true;
  }

  void take(Relay& relay, const Parcel& parcel, Sink* sink) {
    const auto worker = relay.first + parcel.worker;
    switch (parcel.kind) {
      case ParcelKind::frame:
        if (sink != nullptr) {
          const auto [head, body] = frame_in(parcel);
          sink->arrived(worker, head, body);
        }
        return;
      case ParcelKind::joined:
        relay.there[parcel.worker] = 1;
        if (sink != nullptr) sink->joined(worker);
        return;
      case ParcelKind::lost:
        any_lost = true;
        relay.there[parcel.worker] = 0;
        if (sink != nullptr) sink->lost(worker, text_in(parcel.content));
        return;
      case ParcelKind::closed:
        relay.closed = true;
        relay.remaining = ByteReader(parcel.content).u64();
        if (sink != nullptr) lose_all(relay, *sink);
        return;
      case ParcelKind::close:
      case ParcelKind::alive:
        return;
    }
  }

  /// A relay that closes before the master does has failed.
  void lose_all(Relay& relay, Sink& sink) {
    any_lost = true;
    relay.out.clear();
    for (std::size_t k = 0; k < relay.workers; ++k)
      if (std::exchange(relay.there[k], 0)) sink.lost(relay.first + static_cast<WorkerId>(k), "its relay has failed");
  }

  Line& line;
  std::vector<Relay> relays;
  std::vector<std::size_t> due;  // relays with something to send
  double answers_s;
  Pace pace;
  Alarm alarm;
  SteadyClock clock;
  std::size_t peer = 0;
  BytesView message;
  bool held = false;
  bool any_lost = false;
  bool closed = false;
};

RelayTransport::RelayTransport(Line& line, const std::vector<std::size_t>& workers, std::size_t relays_on_way)
    : impl_(std::make_unique<Impl>(line, workers, relays_on_way)) {}

RelayTransport::~RelayTransport() { close(0); }

void RelayTransport::send(WorkerId worker, const FrameHead& head, BytesView body) {
  if (impl_->closed) return;
  auto& relay = impl_->relay_of(worker);
  if (worker - relay.first >= relay.workers) throw InputError(fmt::format("worker {} does not exist", worker));
  if (relay.closed) return;
  relay.out.add_frame(worker - relay.first, head, body);
  impl_->note(relay);
}

bool RelayTransport::receive(Sink& sink) {
  if (impl_->closed) return false;
  impl_->flush();
  bool any = false;
  for (int i = 0; i < most_messages && impl_->read(&sink); ++i) any = true;
  if (any) impl_->pace.found();
  return any;
}

void RelayTransport::sleep(double at_most_s) {
  const auto end_s = impl_->clock.now_s() + at_most_s;
  for (;;) {
    impl_->flush();
    const auto left_s = std::max(0.0, end_s - impl_->clock.now_s());
    if (impl_->look() || impl_->alarm.sleep(std::min(left_s, look_again_s())) || left_s == 0) return;
  }
}

double RelayTransport::look_again_s() const { return impl_->pace.nap_s(); }

void RelayTransport::wake() noexcept { impl_->alarm.ring(); }

void RelayTransport::note_loss() { impl_->any_lost = true; }

void RelayTransport::close(double grace_s) {
  if (impl_->closed) return;
  impl_->closed = true;
  Bytes content;
  ByteWriter writer(content);
  writer.f64(grace_s);
  writer.u8(impl_->any_lost);
  for (auto& relay : impl_->relays) {
    relay.out.clear();
    relay.out.add(0, ParcelKind::close, content);
    impl_->note(relay);
  }
  const auto& clock = impl_->clock;
  const auto deadline_s = clock.now_s() + grace_s + impl_->answers_s;
  const auto is_open = [](const Impl::Relay& relay) { return !relay.closed; };
  while (std::ranges::any_of(impl_->relays, is_open) && clock.now_s() < deadline_s) {
    impl_->flush();
    if (impl_->read(nullptr)) impl_->pace.found();
    else impl_->alarm.sleep(look_again_s());
  }
  const auto flushed_s = clock.now_s() + last_flush_s;  // for relays that had failed: nobody waits for them
  for (impl_->flush(); !impl_->due.empty() && clock.now_s() < flushed_s; impl_->flush())
    impl_->alarm.sleep(look_again_s());
}

void RelayTransport::flush() { impl_->flush(); }

std::size_t RelayTransport::queued_bytes() const {
  std::size_t sum = 0;
  for (const auto r : impl_->due) sum += impl_->relays[r].out.queued_bytes();
  return sum;
}

std::size_t RelayTransport::remaining() const {
  std::size_t sum = 0;
  for (const auto& relay : impl_->relays) sum += relay.remaining;
  return sum;
}

}  // namespace culmen
