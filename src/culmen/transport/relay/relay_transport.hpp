// The master's side of the workers behind relays.
#pragma once
#include <memory>
#include <vector>

#include "culmen/transport/line.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

/// Workers are numbered by relay: first those of peer 0, then those of peer 1, … A message of the line carries what the
/// engine sends to a relay within one turn; while the line is busy, more.
class RelayTransport final : public Transport {
 public:
  /// `workers`: of each relay, in the order of the line's peers. The line outlives it.
  RelayTransport(Line& line, const std::vector<std::size_t>& workers);
  ~RelayTransport() override;

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  double look_again_s() const override;
  void wake() noexcept override;
  void close(double grace_s) override;
  /// After close(): workers that had not left in time, as their relays say.
  std::size_t remaining() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
