#include "culmen/store/rescue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/base/null_character.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/store/ownership.hpp"
#include "culmen/store/rows.hpp"
#include "culmen/store/schema.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {
namespace {

/// The rows of a damaged store, one at a time: a damaged row is none.
class Remains {
 public:
  explicit Remains(Database& database)
      : one_call_(select_calls(database, "WHERE number = ?1")),
        one_outcome_(select_outcomes(database, "WHERE evaluation = ?1")) {}

  std::optional<CallRecord> call(std::uint64_t number) { return read(one_call_, number, call_of); }
  std::optional<OutcomeRecord> outcome(EvaluationId id) { return read(one_outcome_, id, outcome_of); }

 private:
  template <class Record>
  static std::optional<Record> read(Statement& select, std::uint64_t id, Record (*of)(const Statement::Rows&)) {
    try {
      auto rows = select.rows(id);
      return rows.next() ? std::optional(of(rows)) : std::nullopt;
    } catch (const Error&) {
      return {};
    }
  }
  Statement one_call_, one_outcome_;
};

/// Appends the calls up to the first one that cannot be repeated: a damaged one, or a tell without its outcomes.
class Rebuilding {
 public:
  Rebuilding(Remains& from, Journal& to) : from_(from), to_(to) {}

  Rescued run() {
    for (std::uint64_t number = 0; append(number); ++number) {
    }
    for (const auto id : open_) take(id);
    to_.commit();
    return found_;
  }

 private:
  bool append(std::uint64_t number) {
    const auto call = from_.call(number);
    if (!call) return false;
    const bool ends = call->kind == CallKind::tell || call->kind == CallKind::cancel;
    const auto known = [&](EvaluationId id) { return open_.contains(id); };
    if (ends && !std::ranges::all_of(call->ids, known)) return false;
    if (call->kind == CallKind::tell && !std::ranges::all_of(call->ids, [&](EvaluationId id) { return take(id); }))
      return false;
    to_.append(*call);
    for (const auto& candidate : call->candidates) open_.insert(candidate.id);
    if (ends) std::ranges::for_each(call->ids, [&](EvaluationId id) { open_.erase(id); });
    if (call->kind == CallKind::ask || call->kind == CallKind::finish) found_.finished = call->kind == CallKind::finish;
    return true;
  }

  bool take(EvaluationId id) {
    if (taken_.contains(id)) return true;
    const auto outcome = from_.outcome(id);
    if (!outcome) return false;
    to_.append(*outcome);
    taken_.insert(id);
    ++found_.outcomes;
    return true;
  }

  Remains& from_;
  Journal& to_;
  std::set<EvaluationId> open_, taken_;
  Rescued found_;
};

std::uint64_t counted(Database& database) {
  try {
    Statement select(database, "SELECT outcomes FROM progress");
    auto rows = select.rows();
    return rows.next() ? static_cast<std::uint64_t>(rows.integer(0)) : 0;
  } catch (const StoreError&) {
    return 0;
  }
}

void refuse_if_held(Database& database) {
  std::optional<Owner> owner;
  try {
    owner = Ownership(database).live();
  } catch (const StoreError&) {
    return;  // damaged
  }
  if (owner) throw StoreError(fmt::format("{}: belongs to a running master ({})", database.path(), owner->name()));
}

}  // namespace

Rescued rescue(const std::string& from, const std::string& to, NetworkProbe network) {
  auto damaged = open_for_reading(from, network);
  refuse_if_held(damaged);
  StudyRecord study;
  try {
    study = read_study(damaged);
  } catch (const StoreError&) {
    study = {};
  }
  if (study.fingerprint.empty() || has_null(study.configuration))
    throw StoreError(fmt::format("{}: nothing can be rescued, because the description of the study is damaged", from));
  auto journal = Journal::create(to, study, Durability::process, network);
  try {
    Remains remains(damaged);
    auto found = Rebuilding(remains, journal).run();
    const auto before = counted(damaged);
    found.lost = before > found.outcomes ? before - found.outcomes : 0;
    journal.close();
    return found;
  } catch (...) {
    remove_store(to);
    throw;
  }
}

std::string how_to_rescue(const std::string& path) {
  return fmt::format("`culmen rescue {}` writes what can be read into a new store", path);
}

}  // namespace culmen
