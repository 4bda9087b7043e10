// The rows of calls and outcomes, as the store has them: how they are selected, checked and read.
#pragma once
#include <optional>

#include "culmen/store/records.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// One row of `calls`. `first`: of the evaluations that an ask returned.
struct CallRow {
  std::uint64_t number = 0;
  std::int64_t kind = 0;
  std::uint64_t wanted = 0;
  std::optional<std::uint64_t> first;
  BytesView data;

  std::int64_t checksum() const;
};

/// One row of `outcomes`.
struct OutcomeRow {
  EvaluationId evaluation = 0;
  std::uint64_t epoch = 0, attempt = 0, worker = 0;
  double at_s = 0;
  std::int64_t status = 0;
  double value = 0;
  BytesView data;

  std::int64_t checksum() const;
};

/// The row of a record, whose encoded part is `data`.
CallRow row_of(const CallRecord& call, std::uint64_t number, BytesView data);
OutcomeRow row_of(const OutcomeRecord& record, BytesView data);

/// All throw Error if the row's checksum is not the stored one, or if its data cannot be read.
CallRecord call_of(const CallRow& row, std::int64_t checksum);
OutcomeRecord outcome_of(const OutcomeRow& row, std::int64_t checksum);

/// Rows for the functions below. `which`: the rest of the statement, such as "WHERE …".
Statement select_calls(Database& database, const char* which);
Statement select_outcomes(Database& database, const char* which);
CallRecord call_of(const Statement::Rows& row);
OutcomeRecord outcome_of(const Statement::Rows& row);
/// One candidate of an ask; none if it is not among them.
std::optional<Candidate> candidate_of(const Statement::Rows& row, EvaluationId id);

}  // namespace culmen
