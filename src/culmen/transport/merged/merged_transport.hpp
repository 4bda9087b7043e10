// Two transports as one, for workers of two kinds in one study.
#pragma once
#include <algorithm>
#include <cstddef>

#include "culmen/transport/transport.hpp"

namespace culmen {

/// The workers of the second come after those of the first. It sleeps in the first. The second's arrivals end that
/// sleep by wake(), or the second says when to look_again_s(). Both outlive it.
class MergedTransport final : public Transport {
 public:
  MergedTransport(Transport& first, std::size_t workers_of_first, Transport& second)
      : first_(first), second_(second), begin_(static_cast<WorkerId>(workers_of_first)) {}
  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  void turn_away(WorkerId worker, const std::string& why) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override { first_.sleep(std::min(at_most_s, second_.look_again_s())); }
  double look_again_s() const override { return std::min(first_.look_again_s(), second_.look_again_s()); }
  void wake() noexcept override { first_.wake(); }
  /// False if one of them cannot; the other one has done it.
  bool dismiss() override;
  /// Both leave at the same time, if both transports can dismiss().
  void close(double grace_s) override;

 private:
  Transport& first_;
  Transport& second_;
  WorkerId begin_;
};

}  // namespace culmen
