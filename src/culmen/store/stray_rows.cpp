#include "culmen/store/stray_rows.hpp"

#include <utility>
#include <variant>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/store/leaves.hpp"
#include "culmen/store/rows.hpp"
#include "culmen/store/schema.hpp"

namespace culmen {
namespace {

std::int64_t integer(const LeafRow::Value& value) {
  const auto* found = std::get_if<std::int64_t>(&value);
  return found != nullptr ? *found : 0;
}

std::uint64_t natural(const LeafRow::Value& value) { return static_cast<std::uint64_t>(integer(value)); }

double real(const LeafRow::Value& value) {
  const auto* found = std::get_if<double>(&value);
  return found != nullptr ? *found : static_cast<double>(integer(value));
}

BytesView blob(const LeafRow::Value& value) {
  const auto* found = std::get_if<Bytes>(&value);
  return found != nullptr ? BytesView(*found) : BytesView();
}

std::string text(const LeafRow::Value& value) { return text_in(blob(value)); }

void add_call(const LeafRow& row, StrayRows& to) {
  CallRow call{.number = static_cast<std::uint64_t>(row.id),
               .kind = integer(row.values[1]),
               .wanted = natural(row.values[2]),
               .first = {},
               .data = blob(row.values[4])};
  if (!std::holds_alternative<std::monostate>(row.values[3])) call.first = natural(row.values[3]);
  to.calls.emplace(row.id, call_of(call, integer(row.values[5])));
}

void add_outcome(const LeafRow& row, StrayRows& to) {
  const auto& values = row.values;
  const OutcomeRow outcome{.evaluation = static_cast<EvaluationId>(row.id),
                           .epoch = natural(values[1]),
                           .attempt = natural(values[2]),
                           .worker = natural(values[3]),
                           .at_s = real(values[4]),
                           .status = integer(values[5]),
                           .value = real(values[6]),
                           .data = blob(values[7])};
  to.outcomes.emplace(outcome.evaluation, outcome_of(outcome, integer(values[8])));
}

void add_description(const LeafRow& row, StrayRows& to) {
  const auto& values = row.values;
  StudyRecord study{text(values[1]), text(values[2]), text(values[3]), text(values[4])};
  study.created_s = real(values[5]);
  study.budget = natural(values[6]);
  if (checksum_of(study) == integer(values[7])) to.study = std::move(study);
}

/// The tables differ in their numbers of columns.
void add(const LeafRow& row, StrayRows& to) {
  try {
    if (row.values.size() == 6) add_call(row, to);
    if (row.values.size() == 8) add_description(row, to);
    if (row.values.size() == 9) add_outcome(row, to);
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
  if (!found.study) found.study = std::move(earlier.study);
  found.reused = reused_in(found.calls);
  found.outcomes.merge(earlier.outcomes);
  return found;
}

}  // namespace culmen
