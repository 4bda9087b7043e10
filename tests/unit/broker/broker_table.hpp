#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "culmen/broker/broker.hpp"

namespace culmen {

// Plays the engine: answers Ask from an endless (or finite) source, records at once or when told to.
class Table {
 public:
  explicit Table(const BrokerOptions& options) : broker(options) {}

  void start() {
    broker.start(now, pending_);
    run();
  }
  void feed(const Event& event) {
    broker.on(event, now, pending_);
    run();
  }
  void answer(std::size_t which, double value = 1, bool ok = true, double duration = 0.01, std::uint64_t residuals = 0,
              bool wrong_shape = false) {
    const auto send = sent.at(which);
    sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(which));
    feed(Arrived{send.worker, send.id, send.attempt, ok, value, duration, residuals, wrong_shape});
    if (record_at_once) feed(Recorded{records});
  }
  std::vector<Send> sent_to(WorkerId worker) const {
    std::vector<Send> out;
    for (const auto& s : sent) {
      if (s.worker == worker) out.push_back(s);
    }
    return out;
  }

  Broker broker;
  double now = 0;
  bool record_at_once = true;
  std::uint64_t generation = UINT64_MAX;  // candidates per generation
  std::uint64_t source_left = UINT64_MAX;
  std::uint64_t asked = 0, asks = 0, records = 0, drops = 0, fails = 0;
  std::vector<Send> sent;
  std::vector<EvaluationId> told, cancelled;
  std::vector<JobId> started, adopted;
  std::optional<Differ> differ;
  StopReason stopped = StopReason::none;

 private:
  void run() {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto action = pending_[i];
      if (const auto* a = std::get_if<Ask>(&action)) {
        const auto in_generation = generation == UINT64_MAX ? a->wanted
                                   : generation == 0        ? 0
                                                            : (told.size() / generation + 1) * generation - asked;
        ++asks;
        const auto n = std::min({a->wanted, in_generation, source_left});
        source_left -= n;
        const auto first = asked;
        asked += n;
        broker.on(Asked{a->wanted, first, n, source_left == 0}, now, pending_);
      }
      if (const auto* a = std::get_if<Send>(&action)) sent.push_back(*a);
      if (const auto* a = std::get_if<Tell>(&action)) told.push_back(a->id);
      if (const auto* a = std::get_if<Cancel>(&action)) cancelled.push_back(a->id);
      if (const auto* a = std::get_if<Differ>(&action)) differ = *a;
      if (const auto* a = std::get_if<StartJob>(&action)) started.push_back(a->job);
      if (const auto* a = std::get_if<Adopt>(&action)) adopted.push_back(a->job);
      if (const auto* a = std::get_if<Stop>(&action)) stopped = a->reason;
      records += std::holds_alternative<Record>(action);
      drops += std::holds_alternative<Drop>(action);
      fails += std::holds_alternative<Fail>(action);
    }
    pending_.clear();
  }
  std::vector<Action> pending_;
};

inline BrokerOptions with_budget(std::uint64_t evaluations) {
  BrokerOptions options;
  options.rules.evaluations = evaluations;
  return options;
}

}  // namespace culmen
