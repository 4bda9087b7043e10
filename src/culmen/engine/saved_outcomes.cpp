#include "culmen/engine/saved_outcomes.hpp"

#include <utility>

namespace culmen {

void SavedOutcomes::add(const std::vector<Candidate>& candidates) {
  for (const auto& candidate : candidates) saved_[candidate.id].candidate = candidate;
}

void SavedOutcomes::read(const Journal& journal, EvaluationId first) {
  saved_.erase(saved_.begin(), saved_.lower_bound(first));
  for (auto at = saved_.begin(); at != saved_.end();) {
    auto record = journal.outcome(at->first);
    if (record) at->second.outcome = std::move(record->outcome);
    at = record ? std::next(at) : saved_.erase(at);
  }
}

std::vector<EvaluationId> SavedOutcomes::forget_others(const std::vector<Candidate>& asked) {
  std::vector<EvaluationId> forgotten;
  if (saved_.empty()) return forgotten;
  for (const auto& candidate : asked) {
    const auto found = saved_.find(candidate.id);
    if (found == saved_.end()) continue;
    if (found->second.outcome.ok() && found->second.candidate == candidate) continue;
    forgotten.push_back(candidate.id);
    saved_.erase(found);
  }
  return forgotten;
}

bool SavedOutcomes::answers(const Send& send) {
  if (!saved_.contains(send.id)) return false;
  answered_.push_back(send);
  return true;
}

std::vector<Send> SavedOutcomes::take_answered() { return std::exchange(answered_, {}); }

Outcome SavedOutcomes::take(EvaluationId id) { return std::move(saved_.extract(id).mapped().outcome); }

}  // namespace culmen
