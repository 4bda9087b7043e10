#include "culmen/store/stray_rows.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"
#include "culmen/store/leaves.hpp"
#include "culmen/store/rows.hpp"

namespace culmen {
namespace {

std::int64_t integer(const LeafRow::Value& value) {
  const auto* found = std::get_if<std::int64_t>(&value);
  return found != nullptr ? *found : 0;
}

double real(const LeafRow::Value& value) {
  const auto* found = std::get_if<double>(&value);
  return found != nullptr ? *found : static_cast<double>(integer(value));
}

std::string text(const LeafRow::Value& value) {
  const auto* found = std::get_if<Bytes>(&value);
  return found != nullptr ? text_in(*found) : std::string();
}

void add_call(const LeafRow& row, StrayRows& to) {
  const auto* data = std::get_if<Bytes>(&row.values[4]);
  const auto kind = integer(row.values[1]);
  if (data == nullptr || kind < 0 || kind > static_cast<int>(CallKind::saved)) return;
  CallRecord call;
  call.kind = static_cast<CallKind>(kind);
  call.wanted = static_cast<std::uint64_t>(integer(row.values[2]));
  decode(*data, call);
  to.calls.emplace(row.id, std::move(call));
}

void add_outcome(const LeafRow& row, StrayRows& to) {
  const auto* data = std::get_if<Bytes>(&row.values[7]);
  if (data == nullptr) return;
  OutcomeRecord record;
  record.evaluation = static_cast<EvaluationId>(row.id);
  record.epoch = static_cast<Epoch>(integer(row.values[1]));
  record.attempt = static_cast<Attempt>(integer(row.values[2]));
  record.worker = static_cast<WorkerId>(integer(row.values[3]));
  record.at_s = real(row.values[4]);
  decode(*data, record.outcome);
  expect_agreement(record.outcome, integer(row.values[5]), real(row.values[6]));
  to.outcomes.emplace(record.evaluation, std::move(record));
}

void add_description(const LeafRow& row, StrayRows& to) {
  const auto& values = row.values;
  if (text(values[3]).empty()) return;  // another table
  to.study = {text(values[1]), text(values[2]), text(values[3]), text(values[4])};
  to.study.created_s = real(values[5]);
  to.study.budget = static_cast<std::uint64_t>(integer(values[6]));
}

/// The tables differ in their numbers of columns.
void add(const LeafRow& row, StrayRows& to) {
  try {
    if (row.values.size() == 5) add_call(row, to);
    if (row.values.size() == 7) add_description(row, to);
    if (row.values.size() == 8) add_outcome(row, to);
  } catch (const Error&) {  // another table, or damaged
  }
}

/// The numbers of saved candidates that an ask gave to other candidates: the outcomes were forgotten
/// (engine/saved_outcomes).
std::set<EvaluationId> reused_in(const std::map<std::uint64_t, CallRecord>& calls) {
  std::map<EvaluationId, Candidate> saved;
  std::set<EvaluationId> reused;
  for (const auto& [number, call] : calls) {
    for (const auto& candidate : call.candidates) {
      if (call.kind == CallKind::saved) saved[candidate.id] = candidate;
      else if (const auto before = saved.find(candidate.id); before != saved.end() && !(before->second == candidate))
        reused.insert(candidate.id);
    }
  }
  return reused;
}

}  // namespace

StrayRows find_stray_rows(const std::string& path, const std::string& log_of) {
  StrayRows found, earlier;
  visit_leaves(path, [&](const LeafRow& row) { add(row, found); });
  visit_logged_leaves(log_of, path, [&](const LeafRow& row) { add(row, earlier); });
  found.calls.merge(earlier.calls);
  if (found.study.fingerprint.empty()) found.study = std::move(earlier.study);
  found.reused = reused_in(found.calls);
  found.outcomes.merge(earlier.outcomes);
  return found;
}

}  // namespace culmen
