// The counts of a study, kept up to date by each commit, so that nothing has to be counted.
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
  EvaluationId first = 0;  ///< the least
};

/// What of an outcome decides whether it is the best.
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
  /// Only what the optimizer was told is a result of the study: not what came in after its end.
  void add_told(EvaluationId id, const Brief& outcome);
};

/// The one row of the table `progress`, the table `failures`, a row a status, and what is recommended, a row of `meta`.
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
  std::optional<Recommendation> recommended_;  // as it was loaded or saved last
};

}  // namespace culmen
