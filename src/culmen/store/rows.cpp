#include "culmen/store/rows.hpp"

#include <fmt/format.h>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"
#include "culmen/store/checksum.hpp"

namespace culmen {
namespace {

constexpr std::uint64_t no_first = UINT64_MAX;

template <class Row>
void expect(const Row& row, std::int64_t checksum) {
  if (row.checksum() != checksum) throw Error("its checksum is wrong");
}

std::uint64_t natural(const Statement::Rows& row, int column) {
  return static_cast<std::uint64_t>(row.integer(column));
}

CallRow call_row(const Statement::Rows& row) {
  CallRow out{
      .number = natural(row, 0), .kind = row.integer(1), .wanted = natural(row, 2), .first = {}, .data = row.blob(4)};
  if (!row.null(3)) out.first = natural(row, 3);
  return out;
}

std::int64_t checksum_in(const Statement::Rows& call) { return call.integer(5); }

}  // namespace

std::int64_t CallRow::checksum() const { return crc_of(number, kind, wanted, first.value_or(no_first), data); }

std::int64_t OutcomeRow::checksum() const {
  return crc_of(evaluation, epoch, attempt, worker, at_s, status, value, data);
}

CallRow row_of(const CallRecord& call, std::uint64_t number, BytesView data) {
  CallRow row{.number = number, .kind = static_cast<int>(call.kind), .wanted = call.wanted, .first = {}, .data = data};
  if (call.kind == CallKind::ask && !call.candidates.empty()) row.first = call.candidates.front().id;
  return row;
}

OutcomeRow row_of(const OutcomeRecord& record, BytesView data) {
  return {.evaluation = record.evaluation,
          .epoch = record.epoch,
          .attempt = record.attempt,
          .worker = record.worker,
          .at_s = record.at_s,
          .status = static_cast<int>(record.outcome.status),
          .value = record.outcome.value,
          .data = data};
}

CallRecord call_of(const CallRow& row, std::int64_t checksum) {
  expect(row, checksum);
  if (row.kind < 0 || row.kind > static_cast<int>(CallKind::saved))
    throw Error(fmt::format("its kind is {}", row.kind));
  CallRecord call;
  call.kind = static_cast<CallKind>(row.kind);
  call.wanted = row.wanted;
  decode(row.data, call);
  return call;
}

OutcomeRecord outcome_of(const OutcomeRow& row, std::int64_t checksum) {
  expect(row, checksum);
  OutcomeRecord record;
  record.evaluation = row.evaluation;
  record.epoch = static_cast<Epoch>(row.epoch);
  record.attempt = static_cast<Attempt>(row.attempt);
  record.worker = static_cast<WorkerId>(row.worker);
  record.at_s = row.at_s;
  decode(row.data, record.outcome);
  return record;
}

Statement select_calls(Database& database, const char* which) {
  return {database, fmt::format("SELECT number, kind, wanted, first, data, checksum FROM calls {}", which).c_str()};
}

Statement select_outcomes(Database& database, const char* which) {
  const auto sql = fmt::format(
      "SELECT evaluation, epoch, attempt, worker, at_s, status, value, data, checksum FROM outcomes {}", which);
  return {database, sql.c_str()};
}

CallRecord call_of(const Statement::Rows& row) { return call_of(call_row(row), checksum_in(row)); }

OutcomeRecord outcome_of(const Statement::Rows& row) {
  const OutcomeRow outcome{.evaluation = natural(row, 0),
                           .epoch = natural(row, 1),
                           .attempt = natural(row, 2),
                           .worker = natural(row, 3),
                           .at_s = row.real(4),
                           .status = row.integer(5),
                           .value = row.real(6),
                           .data = row.blob(7)};
  return outcome_of(outcome, row.integer(8));
}

std::optional<Candidate> candidate_of(const Statement::Rows& row, EvaluationId id) {
  const auto call = call_row(row);
  expect(call, checksum_in(row));
  return decode_candidate(call.data, id);
}

}  // namespace culmen
