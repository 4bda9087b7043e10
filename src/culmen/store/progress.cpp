#include "culmen/store/progress.hpp"

#include <algorithm>

namespace culmen {

void Tally::add(const CallRecord& call) {
  ++calls;
  switch (call.kind) {
    case CallKind::ask:
      asked += call.candidates.size();
      finished.clear();
      break;
    case CallKind::tell:
      told += call.ids.size();
      break;
    case CallKind::finish:
      finished = call.note;
      break;
    case CallKind::cancel:
    case CallKind::resize:
      break;
  }
}

void Tally::add(const OutcomeRecord& record) {
  ++outcomes;
  last_outcome_s = std::max(last_outcome_s, record.at_s);
  if (!record.outcome.ok()) {
    ++failed;
    return;
  }
  const double value = record.outcome.value;
  const bool better = best ? value < best_value || (value == best_value && record.evaluation < *best) : value == value;
  if (!better) return;
  best = record.evaluation;
  best_value = value;
}

ProgressRow::ProgressRow(Database& database)
    : select_(database,
              "SELECT calls, asked, outcomes, told, failed, last_outcome_s, best, best_value, finished FROM progress"),
      update_(database,
              "UPDATE progress SET calls = ?1, asked = ?2, outcomes = ?3, told = ?4, failed = ?5, last_outcome_s = ?6, "
              "best = ?7, best_value = ?8, finished = ?9") {}

Tally ProgressRow::load() {
  Tally out;
  auto rows = select_.rows();
  if (!rows.next()) return out;
  int column = 0;
  for (auto* count : {&out.calls, &out.asked, &out.outcomes, &out.told, &out.failed})
    *count = static_cast<std::uint64_t>(rows.integer(column++));
  out.last_outcome_s = rows.real(5);
  if (!rows.null(6)) {
    out.best = static_cast<EvaluationId>(rows.integer(6));
    out.best_value = rows.real(7);
  }
  out.finished = rows.text(8);
  return out;
}

void ProgressRow::save(const Tally& p) {
  update_.run(p.calls, p.asked, p.outcomes, p.told, p.failed, p.last_outcome_s, p.best, p.best_value, p.finished);
}

}  // namespace culmen
