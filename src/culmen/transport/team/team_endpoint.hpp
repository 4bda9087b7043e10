// The side of a team's member.
#pragma once
#include <functional>
#include <utility>

#include "culmen/transport/transport.hpp"

namespace culmen {

/// Frames `renew` do not reach the worker: they call `renew`, in the worker's thread.
class TeamEndpoint final : public Endpoint {
 public:
  TeamEndpoint(Endpoint& inner, std::function<void()> renew) : inner_(inner), renew_(std::move(renew)) {}
  bool receive(FrameHead& head, Bytes& body) override {
    while (inner_.receive(head, body))
      if (is_for_worker(head)) return true;
    return false;
  }
  bool try_receive(FrameHead& head, Bytes& body) override {
    while (inner_.try_receive(head, body))
      if (is_for_worker(head)) return true;
    return false;
  }
  bool send(const FrameHead& head, BytesView body) override { return inner_.send(head, body); }
  void wait_closed() override { inner_.wait_closed(); }
  void release() noexcept override { inner_.release(); }
  bool closed() const noexcept override { return inner_.closed(); }

 private:
  bool is_for_worker(const FrameHead& head) {
    if (head.kind != FrameKind::renew) return true;
    renew_();
    return false;
  }
  Endpoint& inner_;
  std::function<void()> renew_;
};

}  // namespace culmen
