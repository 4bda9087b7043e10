// A line between threads of one process. It is busy while two messages to a peer wait, as a line of MPI is.
#pragma once
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "culmen/transport/line.hpp"

namespace culmen {

class LineInMemory final : public Line {
 public:
  /// The master's end and the ends of `relays` relays.
  static std::vector<std::unique_ptr<LineInMemory>> make(std::size_t relays) {
    std::vector<std::unique_ptr<LineInMemory>> ends;
    for (std::size_t i = 0; i <= relays; ++i) ends.push_back(std::unique_ptr<LineInMemory>(new LineInMemory));
    for (std::size_t i = 1; i <= relays; ++i) {
      auto there = std::make_shared<Way>(), back = std::make_shared<Way>();
      ends[0]->out_.push_back(there);
      ends[0]->in_.push_back(back);
      ends[i]->out_ = {back};
      ends[i]->in_ = {there};
    }
    return ends;
  }
  bool send(std::size_t peer, BytesView message) override {
    auto& way = *out_[peer];
    const std::lock_guard lock(way.mutex);
    if (way.messages.size() >= 2) return false;
    way.messages.emplace_back(message.begin(), message.end());
    return true;
  }
  bool receive(std::size_t& peer, BytesView& message) override {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      peer = next_++ % in_.size();
      auto& way = *in_[peer];
      const std::lock_guard lock(way.mutex);
      if (way.messages.empty()) continue;
      received_ = std::move(way.messages.front());
      way.messages.pop_front();
      message = received_;
      return true;
    }
    return false;
  }
  bool idle() override { return true; }

 private:
  struct Way {
    std::mutex mutex;
    std::deque<Bytes> messages;
  };
  LineInMemory() = default;
  std::vector<std::shared_ptr<Way>> out_, in_;
  std::size_t next_ = 0;
  Bytes received_;
};

}  // namespace culmen
