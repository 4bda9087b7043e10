#include "culmen/transport/mpi/mpi_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::size_t buffers = 8;
constexpr auto nobody = std::numeric_limits<std::size_t>::max();
constexpr double longest_end_s = 1;
constexpr int down = 1, up = 2;  // tags
}  // namespace

MpiLine::MpiLine(const culmen_mpi_module& mpi, std::vector<int> ranks, LineEnd end)
    : mpi_(mpi),
      ranks_(std::move(ranks)),
      sends_(end == LineEnd::upper ? down : up),
      receives_(end == LineEnd::upper ? up : down),
      outgoing_(ranks_.size()),
      incoming_(buffers) {
  int may = 0;
  check(mpi_.may_use_line(&may), "asking for its threads");
  if (!may)
    throw TransportError(
        "ranks on several nodes need an MPI that was initialised with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
  for (std::size_t peer = 0; peer < ranks_.size(); ++peer) {
    const auto rank = static_cast<std::size_t>(ranks_[peer]);
    if (rank >= peer_of_rank_.size()) peer_of_rank_.resize(rank + 1, nobody);
    peer_of_rank_[rank] = peer;
  }
  for (auto& incoming : incoming_) {
    incoming.buffer.resize(largest_message);
    post(incoming);
  }
}

MpiLine::~MpiLine() {
  if (owes_buffer_) incoming_.pop_front();
  for (auto& incoming : incoming_) mpi_.cancel(&incoming.request);
  end_sends();
}

/// MPI reads a message until its send is complete, and a send cannot be cancelled. A peer that hangs never receives:
/// its messages stay allocated until the process ends.
void MpiLine::end_sends() noexcept {
  try {
    const SteadyClock clock;
    const auto end_s = clock.now_s() + longest_end_s;
    while (!idle()) {
      if (clock.now_s() >= end_s) throw TransportError("a peer does not receive");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const TransportError&) {
    static auto& kept = *new std::vector<std::vector<Outgoings>>;
    kept.push_back(std::move(outgoing_));
  }
}

void MpiLine::check(int error, const char* what) const {
  if (error == 0) return;
  char text[512] = "";
  mpi_.error_text(error, text, sizeof text);
  throw TransportError(fmt::format("MPI failed {}: {}", what, text));
}

void MpiLine::post(Incoming& incoming) {
  check(mpi_.post_receive(incoming.buffer.data(), incoming.buffer.size(), receives_, &incoming.request),
        "waiting for a message");
}

bool MpiLine::is_free(Outgoing& outgoing) {
  if (!outgoing.underway) return true;
  int done = 0, from = 0;
  std::size_t n = 0;
  check(mpi_.test(&outgoing.request, &done, &from, &n), "sending a message");
  outgoing.underway = !done;
  return done;
}

bool MpiLine::send(std::size_t peer, BytesView message) {
  const auto outgoing = std::ranges::find_if(outgoing_[peer], [this](Outgoing& one) { return is_free(one); });
  if (outgoing == outgoing_[peer].end()) return false;
  outgoing->message.assign(message.begin(), message.end());
  check(mpi_.post_send(outgoing->message.data(), outgoing->message.size(), ranks_[peer], sends_, &outgoing->request),
        "sending a message");
  outgoing->underway = true;
  return true;
}

bool MpiLine::receive(std::size_t& peer, BytesView& message) {
  if (std::exchange(owes_buffer_, false)) {
    post(incoming_.front());
    incoming_.push_back(std::move(incoming_.front()));
    incoming_.pop_front();
  }
  auto& first = incoming_.front();
  int done = 0, from = 0;
  std::size_t n = 0;
  check(mpi_.test(&first.request, &done, &from, &n), "receiving a message");
  if (!done) return false;
  owes_buffer_ = true;
  peer = static_cast<std::size_t>(from) < peer_of_rank_.size() ? peer_of_rank_[static_cast<std::size_t>(from)] : nobody;
  if (peer == nobody) throw TransportError(fmt::format("rank {} sent a message that only a relay may send", from));
  message = BytesView(first.buffer).first(n);
  return true;
}

bool MpiLine::idle() {
  return std::ranges::all_of(outgoing_, [this](Outgoings& outgoings) {
    return std::ranges::all_of(outgoings, [this](Outgoing& one) { return is_free(one); });
  });
}

}  // namespace culmen
