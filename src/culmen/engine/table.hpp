// Open candidates, and outcomes that wait to be told. Memory depends on the open ones, not on the history.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>

#include "culmen/broker/window.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

struct EvaluationEntry {
  Candidate candidate;
  Outcome outcome;
  std::uint64_t hash = 0;
  WorkerId worker = 0;  // of the outcome, like the next two
  Attempt attempt = 0;
  double at_s = 0;
  bool open = true;
};

class EvaluationTable {
 public:
  /// Ids are consecutive.
  EvaluationEntry& add(Candidate candidate, std::uint64_t hash) {
    auto& e = window_.push();
    e.candidate = std::move(candidate);
    e.hash = hash;
    return e;
  }
  bool has(EvaluationId id) const { return window_.has(id); }
  EvaluationEntry& operator[](EvaluationId id) { return window_[id]; }
  void close(EvaluationId id) {
    auto& entry = window_[id];
    entry.open = false;
    entry.candidate.payload = {};  // the entry stays while an older one is open; its content need not
    entry.outcome = {};
    window_.trim([](const EvaluationEntry& e) { return !e.open; });
  }

 private:
  Window<EvaluationEntry> window_;
};

}  // namespace culmen
