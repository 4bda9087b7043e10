#include "culmen/store/rows.hpp"

#include <fmt/format.h>

#include <cmath>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"

namespace culmen {

void expect_agreement(const Outcome& outcome, std::int64_t status, double value) {
  const auto wanted = std::isnan(outcome.value) ? 0.0 : outcome.value;  // NaN is NULL there, which reads as 0
  if (status != static_cast<int>(outcome.status) || value != wanted) throw Error("its columns do not agree");
}

Statement select_calls(Database& database, const char* which) {
  return {database, fmt::format("SELECT number, kind, wanted, data FROM calls {}", which).c_str()};
}

Statement select_outcomes(Database& database, const char* which) {
  const auto sql =
      fmt::format("SELECT evaluation, epoch, attempt, worker, at_s, data, status, value FROM outcomes {}", which);
  return {database, sql.c_str()};
}

CallRecord call_of(const Statement::Rows& row) {
  CallRecord call;
  const auto kind = row.integer(1);
  if (kind < 0 || kind > static_cast<int>(CallKind::saved)) throw Error(fmt::format("its kind is {}", kind));
  call.kind = static_cast<CallKind>(kind);
  call.wanted = static_cast<std::uint64_t>(row.integer(2));
  decode(row.blob(3), call);
  return call;
}

OutcomeRecord outcome_of(const Statement::Rows& row) {
  OutcomeRecord record;
  record.evaluation = static_cast<EvaluationId>(row.integer(0));
  record.epoch = static_cast<Epoch>(row.integer(1));
  record.attempt = static_cast<Attempt>(row.integer(2));
  record.worker = static_cast<WorkerId>(row.integer(3));
  record.at_s = row.real(4);
  decode(row.blob(5), record.outcome);
  expect_agreement(record.outcome, row.integer(6), row.real(7));
  return record;
}

}  // namespace culmen
