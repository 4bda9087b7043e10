#include "culmen/store/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/checksum.hpp"
#include "culmen/store/rescue.hpp"

namespace culmen {
namespace {

void add_failure(EvaluationId id, Status status, std::vector<FailureTally>& failures) {
  const auto known = std::ranges::find(failures, status, &FailureTally::status);
  if (known == failures.end()) return failures.push_back({status, 1, id});
  ++known->count;
  known->first = std::min(known->first, id);
}

std::int64_t checksum_of(const Tally& p) {
  std::int64_t failures = 0;  // in any order
  for (const auto& f : p.failures)
    failures += crc_of(std::int64_t{static_cast<int>(f.status)}, std::uint64_t{f.count}, f.first);
  Bytes recommended;
  if (p.recommended) encode(*p.recommended, recommended);
  return crc_of(p.calls, p.asked, p.outcomes, p.told, p.failed, p.last_outcome_s, p.best.value_or(UINT64_MAX),
                p.best_value, p.best_violation, std::string_view(p.finished), failures, BytesView(recommended));
}

}  // namespace

void Tally::add(const CallRecord& call) {
  ++calls;
  recommended = call.recommended;
  switch (call.kind) {
    case CallKind::ask:
      asked += call.candidates.size();
      finished.clear();
      break;
    case CallKind::finish:
      finished = call.note;
      break;
    case CallKind::tell:  // each of them by add_told()
    case CallKind::cancel:
    case CallKind::resize:
    case CallKind::adopt:
    case CallKind::saved:
      break;
  }
}

void Tally::add(const OutcomeRecord& record) {
  ++outcomes;
  last_outcome_s = std::max(last_outcome_s, record.at_s);
}

void Tally::add_told(EvaluationId id, const Brief& outcome) {
  ++told;
  if (outcome.status != Status::ok) {
    ++failed;
    return add_failure(id, outcome.status, failures);
  }
  if (best && std::pair(outcome.violation, outcome.value) >= std::pair(best_violation, best_value)) return;
  best = id;
  best_value = outcome.value;
  best_violation = outcome.violation;
}

ProgressRow::ProgressRow(Database& database)
    : select_(
          database,
          "SELECT calls, asked, outcomes, told, failed, last_outcome_s, best, best_value, best_violation, finished, "
          "checksum FROM progress"),
      update_(database,
              "UPDATE progress SET calls = ?1, asked = ?2, outcomes = ?3, told = ?4, failed = ?5, last_outcome_s = ?6, "
              "best = ?7, best_value = ?8, best_violation = ?9, finished = ?10, checksum = ?11"),
      select_failures_(database, "SELECT status, count, first FROM failures ORDER BY count DESC, status"),
      save_failure_(database, "INSERT OR REPLACE INTO failures VALUES (?1, ?2, ?3)"),
      select_recommended_(database, "SELECT value FROM meta WHERE key = 'recommended'"),
      save_recommended_(database, "INSERT OR REPLACE INTO meta VALUES ('recommended', ?1)"),
      forget_recommended_(database, "DELETE FROM meta WHERE key = 'recommended'"),
      path_(database.path()) {}

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
    out.best_violation = rows.real(8);
  }
  out.finished = rows.text(9);
  auto failures = select_failures_.rows();
  while (failures.next())
    out.failures.push_back({static_cast<Status>(failures.integer(0)), static_cast<std::uint64_t>(failures.integer(1)),
                            static_cast<EvaluationId>(failures.integer(2))});
  if (auto recommended = select_recommended_.rows(); recommended.next()) {
    try {
      decode(recommended.blob(0), out.recommended.emplace());
    } catch (const Error& error) {
      throw StoreError(
          fmt::format("{}: its recommendation is damaged: {}; {}", path_, error.what(), how_to_rescue(path_)));
    }
  }
  if (rows.integer(10) != checksum_of(out))
    throw StoreError(fmt::format("{}: its counts are damaged; {}", path_, how_to_rescue(path_)));
  recommended_ = out.recommended;
  return out;
}

void ProgressRow::save(const Tally& p) {
  update_.run(p.calls, p.asked, p.outcomes, p.told, p.failed, p.last_outcome_s, p.best, p.best_value, p.best_violation,
              p.finished, checksum_of(p));
  for (const auto& f : p.failures) save_failure_.run(static_cast<int>(f.status), f.count, f.first);
  save(p.recommended);
}

void ProgressRow::save(const std::optional<Recommendation>& recommended) {
  if (recommended == recommended_) return;
  if (recommended) {
    Bytes bytes;
    encode(*recommended, bytes);
    save_recommended_.run(bytes);
  } else {
    forget_recommended_.run();
  }
  recommended_ = recommended;
}

}  // namespace culmen
