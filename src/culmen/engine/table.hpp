// Open candidates, and outcomes that wait to be told. The memory depends on the number of open candidates, not on the
// history.
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
  WorkerId worker = 0;  // of the outcome, like the next two
  Attempt attempt = 0;
  double at_s = 0;
};

/// A closed entry stays in the table while an older one is open, but takes only 16 bytes.
class EvaluationTable {
 public:
  /// Ids are consecutive.
  EvaluationEntry& add(Candidate candidate, std::uint64_t hash) {
    auto& place = window_.push();
    place.hash = hash;
    place.entry = std::make_unique<EvaluationEntry>();
    place.entry->candidate = std::move(candidate);
    return *place.entry;
  }
  /// Whether it is open, or was closed while an older one was open.
  bool has(EvaluationId id) const { return window_.has(id); }
  bool open(EvaluationId id) { return has(id) && window_[id].entry != nullptr; }
  /// The candidate's hash. Requires has(id).
  std::uint64_t hash(EvaluationId id) { return window_[id].hash; }
  /// Requires open(id).
  EvaluationEntry& operator[](EvaluationId id) { return *window_[id].entry; }
  void close(EvaluationId id) {
    window_[id].entry.reset();
    window_.trim([](const Place& p) { return p.entry == nullptr; });
  }

 private:
  struct Place {
    std::uint64_t hash = 0;
    std::unique_ptr<EvaluationEntry> entry;
  };
  Window<Place> window_;
};

}  // namespace culmen
