// The workers behind relays, for the master or for a relay in front of these.
#pragma once
#include <memory>
#include <vector>

#include "culmen/transport/line.hpp"
#include "culmen/transport/transport.hpp"

namespace culmen {

/// Workers are numbered by relay: first those of peer 0, then those of peer 1, and so on. A message of the line carries
/// everything that the sender gives a relay within one turn, or within several turns while the line is busy.
class RelayTransport final : public Transport {
 public:
  /// `workers`: of each relay and those behind it, in the order of the line's peers. The line outlives it.
  /// `relays_on_way`: between here and the farthest worker.
  RelayTransport(Line& line, const std::vector<std::size_t>& workers, std::size_t relays_on_way = 1);
  ~RelayTransport() override;

  void send(WorkerId worker, const FrameHead& head, BytesView body) override;
  bool receive(Sink& sink) override;
  void sleep(double at_most_s) override;
  double look_again_s() const override;
  void wake() noexcept override;
  void close(double grace_s) override;
  /// Sends what the line takes. receive() and sleep() do that, too.
  void flush();
  /// Bytes that wait for the line.
  std::size_t queued_bytes() const;
  /// Before close(): the relays learn that a worker was lost, as they do if one behind any of them was.
  void note_loss();
  /// After close(): workers that had not left in time, as their relays say.
  std::size_t remaining() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace culmen
