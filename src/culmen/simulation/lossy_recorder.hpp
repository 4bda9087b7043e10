// A recorder that commits when the simulation says so, and loses what was not committed when the master dies.
#pragma once
#include <set>
#include <vector>

#include "culmen/store/writer.hpp"

namespace culmen {

class LossyRecorder final : public Recorder {
 public:
  explicit LossyRecorder(Journal journal) : journal_(std::move(journal)) {}
  std::uint64_t push(CallRecord call) override;
  std::uint64_t push(OutcomeRecord outcome) override;
  std::uint64_t durable() const override { return durable_; }
  std::string error() const override { return {}; }
  void close() override;

  bool behind() const { return durable_ < pushed_; }
  void commit();
  /// Outcomes that this recorder committed.
  const std::set<EvaluationId>& durable_outcomes() const { return durable_outcomes_; }

 private:
  Journal journal_;
  std::uint64_t pushed_ = 0, durable_ = 0;
  std::vector<EvaluationId> open_;
  std::set<EvaluationId> durable_outcomes_;
};

}  // namespace culmen
