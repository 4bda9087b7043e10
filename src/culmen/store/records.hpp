// The content of the journal.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "culmen/evaluation/outcome.hpp"
#include "culmen/evaluation/recommendation.hpp"
#include "culmen/space/candidate.hpp"

namespace culmen {

/// Identity of a study, written once when its store is made.
struct StudyRecord {
  std::string name;
  std::string configuration;  ///< the study file's text, normalised (JSON); what resume starts from
  std::string fingerprint;    ///< of space, evaluator, optimizer and seed: a store refuses another study by it
  std::string build;          ///< version and compiler of the culmen that made it
  double created_s = 0;       ///< seconds since 1970
  std::uint64_t budget = 0;   ///< the first start's limit of evaluations, whatever came later; 0: no limit
};

enum class CallKind : unsigned char { ask = 0, tell = 1, cancel = 2, resize = 3, finish = 4, adopt = 5, saved = 6 };

/// One call of the optimizer, in the order of calls. finish: the study reached its end; `note` says why. adopt: the
/// result is not stored. During a replay the job runs again. saved: no call, but candidates that a rescue found behind
/// the damage. Their outcomes are in the store. They answer a later ask that returns the same candidates.
struct CallRecord {
  CallKind kind = CallKind::ask;
  std::uint64_t wanted = 0;           ///< ask: n; resize: workers; adopt: the job
  std::vector<Candidate> candidates;  ///< ask: the candidates that it returned (perhaps fewer than n); saved
  std::vector<EvaluationId> ids;      ///< tell, cancel: the evaluations, in order; ask: those of its evaluations
                                      ///< whose saved outcomes are of other candidates, which are removed
  std::string note;
  std::optional<Recommendation> recommended =
      {};  ///< the optimizer's recommendation after it; a store keeps that of its last call
};

/// An evaluation that has not ended.
struct Running {
  EvaluationId evaluation = 0;
  WorkerId worker = 0;
  double since_s = 0;  ///< seconds since 1970
  bool operator==(const Running& other) const { return evaluation == other.evaluation && worker == other.worker; }
};

struct OutcomeRecord {
  EvaluationId evaluation = 0;
  Epoch epoch = 0;
  Attempt attempt = 0;
  WorkerId worker = 0;
  double at_s = 0;  ///< time of arrival, seconds since 1970
  Outcome outcome;
};

}  // namespace culmen
