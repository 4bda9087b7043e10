// The counts of a study, updated by each commit, so that nothing has to be counted later.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "culmen/store/records.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// The failures of one status.
struct FailureTally {
  Status status = Status::failed;
  std::uint64_t count = 0;
  EvaluationId first = 0;  ///< its lowest evaluation
};

/// The parts of an outcome that decide whether it is the best.
struct Brief {
  Status status = Status::ok;
  double value = 0;
  double violation = 0;
};

struct Tally {
  std::uint64_t calls = 0, asked = 0, outcomes = 0, told = 0, failed = 0;
  double last_outcome_s = 0;
  std::optional<EvaluationId> best;  ///< told; of equal values the first
  double best_value = std::numeric_limits<double>::infinity();
  double best_violation = 0;
  std::string finished;
  std::vector<FailureTally> failures;
  std::optional<Recommendation> recommended;  ///< after the last call

  void add(const CallRecord& call);
  void add(const OutcomeRecord& record);
  /// Only evaluations that the optimizer was told are results of the study: later ones are not.
  void add_told(EvaluationId id, const Brief& outcome);
};

/// One row of the table `progress`, one row per status of `failures`, and the recommendation, a row of `meta`.
class ProgressRow {
 public:
  explicit ProgressRow(Database& database);
  Tally load();
  void save(const Tally& progress);

 private:
  void save(const std::optional<Recommendation>& recommended);
  Statement select_, update_, select_failures_, save_failure_, select_recommended_, save_recommended_,
      forget_recommended_;
  const std::string path_;                     // for messages
  std::optional<Recommendation> recommended_;  // as it was last loaded or saved
};

}  // namespace culmen
