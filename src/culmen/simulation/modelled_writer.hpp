// A recorder that keeps nothing: records become durable after the time that the store's thread would take.
#pragma once
#include <vector>

#include "culmen/simulation/modelled_cluster.hpp"
#include "culmen/store/writer.hpp"

namespace culmen {

/// As Writer: it commits whenever it is idle and rows are queued, at most 1000 at a time.
class ModelledWriter final : public Recorder {
 public:
  /// Both outlive it.
  ModelledWriter(const NetworkModel& model, ModelledCluster& cluster, const VirtualClock& clock)
      : model_(model), cluster_(cluster), clock_(clock) {}
  std::uint64_t push(CallRecord call) override;
  std::uint64_t push(OutcomeRecord outcome) override;
  std::uint64_t durable() const override { return durable_; }
  std::string error() const override { return {}; }
  void close() override { settle(); }

  /// Commits what is due, and begins the next commit.
  void settle();
  double worked_s() const { return worked_s_; }

 private:
  NetworkModel model_;
  ModelledCluster& cluster_;
  const VirtualClock& clock_;
  std::vector<CallRecord> calls_;  // until settle(), as the real one frees them on its own thread
  std::vector<OutcomeRecord> outcomes_;
  std::uint64_t pushed_ = 0, durable_ = 0, committing_ = 0;
  double due_s_ = 0, worked_s_ = 0;
};

}  // namespace culmen
