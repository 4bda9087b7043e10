// Outcomes that a rescue saved from a damaged store, until their candidates are asked for again.
#pragma once
#include <map>
#include <vector>

#include "culmen/broker/broker.hpp"
#include "culmen/evaluation/outcome.hpp"
#include "culmen/space/candidate.hpp"
#include "culmen/store/journal.hpp"

namespace culmen {

class SavedOutcomes {
 public:
  void add(const std::vector<Candidate>& candidates);
  /// Reads the outcomes of the candidates from `first` on, and forgets all others.
  void read(const Journal& journal, EvaluationId first);
  /// For each candidate in `asked`: forgets the saved outcome of the same id if it belongs to another candidate or is a
  /// failure. Returns these ids. Their candidates must be evaluated.
  std::vector<EvaluationId> forget_others(const std::vector<Candidate>& asked);
  /// True if the candidate need not be sent, because its outcome is here.
  bool answers(const Send& send);
  /// The candidates for which answers() was true; each is returned once.
  std::vector<Send> take_answered();
  Outcome take(EvaluationId id);

 private:
  struct Saved {
    Candidate candidate;
    Outcome outcome;
  };
  std::map<EvaluationId, Saved> saved_;
  std::vector<Send> answered_;
};

}  // namespace culmen
