// What the journal holds.
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
  std::string fingerprint;    ///< of space, evaluator, optimizer and seed: a store of another study is refused by it
  std::string build;          ///< version and compiler of the culmen that made it
  double created_s = 0;       ///< seconds since 1970
  std::uint64_t budget = 0;   ///< evaluations that it was begun with, whatever came later; 0: no limit
};

enum class CallKind : unsigned char { ask = 0, tell = 1, cancel = 2, resize = 3, finish = 4, adopt = 5 };

/// One call of the optimizer, in the order in which it was called. finish: the study reached its end; `note` says why.
/// adopt: the result itself is not kept, the job runs again where the calls are gone through.
struct CallRecord {
  CallKind kind = CallKind::ask;
  std::uint64_t wanted = 0;           ///< ask: n; resize: workers; adopt: the job
  std::vector<Candidate> candidates;  ///< ask: what it gave (perhaps fewer than n)
  std::vector<EvaluationId> ids;      ///< tell, cancel: which, in order
  std::string note;
  std::optional<Recommendation> recommended =
      {};  ///< by the optimizer after it; of the calls in a store the last one's
};

struct OutcomeRecord {
  EvaluationId evaluation = 0;
  Epoch epoch = 0;
  Attempt attempt = 0;
  WorkerId worker = 0;
  double at_s = 0;  ///< when it arrived, seconds since 1970
  Outcome outcome;
};

}  // namespace culmen
