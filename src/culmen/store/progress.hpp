// The counts of a study, kept up to date by each commit, so that nothing has to be counted.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "culmen/store/records.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

struct Tally {
  std::uint64_t calls = 0, asked = 0, outcomes = 0, told = 0, failed = 0;
  double last_outcome_s = 0;
  std::optional<EvaluationId> best;  ///< of equal values the least id
  double best_value = std::numeric_limits<double>::infinity();
  std::string finished;

  void add(const CallRecord& call);
  void add(const OutcomeRecord& record);
};

/// The one row of the table `progress`.
class ProgressRow {
 public:
  explicit ProgressRow(Database& database);
  Tally load();
  void save(const Tally& progress);

 private:
  Statement select_, update_;
};

}  // namespace culmen
