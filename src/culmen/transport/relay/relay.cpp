#include "culmen/transport/relay/relay.hpp"

#include <algorithm>
#include <exception>
#include <limits>

#include "culmen/base/alarm.hpp"
#include "culmen/base/error.hpp"
#include "culmen/transport/relay/relay_transport.hpp"

namespace culmen {
namespace {
constexpr std::size_t most_queued_bytes = std::size_t{16} << 20;  // then those wait from whom more would come
constexpr double failure_said_s = 10;                             // of a relay that has failed
}  // namespace

Relay::Relay(Line& line, Transport& node, std::size_t workers, std::function<std::size_t()> remaining,
             const RelayPlace& place)
    : line_(line),
      node_(node),
      workers_(workers),
      remaining_(std::move(remaining)),
      behind_(place.behind),
      patience_(workers, place.relays_on_way) {}

void Relay::run() {
  while (!closing_) {
    const bool results = look_at_node();
    const bool messages = look_at_line();
    flush();
    if (messages) pace_.found();
    if (!results && !messages)
      node_.sleep(std::clamp(patience_.until_s() - clock_.now_s(), Pace::shortest_s, pace_.nap_s()));
  }
  close();
}

void Relay::flush() {
  const bool is_much = out_.queued_bytes() > 0;
  if (!is_much && clock_.now_s() < patience_.until_s()) return;
  out_.flush(line_, 0);
  if (out_.empty()) patience_.flushed();
}

bool Relay::look_at_node() {
  if (out_.queued_bytes() < most_queued_bytes) return node_.receive(*this);
  if (behind_ != nullptr) behind_->flush();
  return false;
}

bool Relay::look_at_line() {
  const auto is_full = [this] { return behind_ != nullptr && behind_->queued_bytes() >= most_queued_bytes; };
  std::size_t peer = 0;
  BytesView message;
  bool any = false;
  while (!closing_ && !is_full() && line_.receive(peer, message)) {
    in_.read(message, workers_, [this](const Parcel& parcel) { take(parcel); });
    any = true;
  }
  return any;
}

void Relay::take(const Parcel& parcel) {
  if (parcel.kind == ParcelKind::close) {
    ByteReader reader(parcel.content);
    grace_s_ = reader.f64();
    any_lost_ |= reader.u8() != 0;
    closing_ = true;
  }
  if (parcel.kind != ParcelKind::frame) return;
  const auto [head, body] = frame_in(parcel);
  patience_.sent(parcel.worker);
  node_.send(parcel.worker, head, body);
}

void Relay::joined(WorkerId worker) {
  out_.add(worker, ParcelKind::joined);
  patience_.hurry();
}

void Relay::arrived(WorkerId worker, const FrameHead& head, BytesView body) {
  out_.add_frame(worker, head, body);
  patience_.arrived(worker, clock_.now_s());
}

void Relay::lost(WorkerId worker, const std::string& why) {
  any_lost_ = true;
  out_.add(worker, ParcelKind::lost, std::as_bytes(std::span(why)));
  patience_.hurry();
}

void Relay::close() {
  if (any_lost_ && behind_ != nullptr) behind_->note_loss();
  node_.close(grace_s_);
  say_closed(std::numeric_limits<double>::infinity());
}

void Relay::fail() noexcept {
  any_lost_ = true;
  try {
    node_.close(0);
    say_closed(failure_said_s);
    drain();
  } catch (const std::exception&) {  // the line has failed, too
  }
}

/// Reads and drops all messages until the master closes. They are for workers that are gone, and would disturb the next
/// study.
void Relay::drain() {
  Inbox in;
  Alarm nap;
  std::size_t peer = 0;
  BytesView message;
  while (!closing_) {
    while (!closing_ && line_.receive(peer, message)) {
      try {
        in.read(message, workers_, [this](const Parcel& parcel) {
          if (parcel.kind == ParcelKind::close) take(parcel);
        });
      } catch (const Error&) {  // it begins amid a frame, or is what has failed
        in = Inbox();
      }
    }
    if (!closing_) nap.sleep(pace_.nap_s());
  }
}

void Relay::say_closed(double at_most_s) {
  out_.clear();
  Bytes content;
  ByteWriter(content).u64(remaining_());
  out_.add(0, ParcelKind::closed, content);
  Alarm nap;
  for (const auto end_s = clock_.now_s() + at_most_s; clock_.now_s() < end_s;) {
    out_.flush(line_, 0);
    if (out_.empty() && line_.idle()) return;
    nap.sleep(pace_.nap_s());
  }
}

}  // namespace culmen
