#include "culmen/store/rescue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/base/null_character.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/store/leaves.hpp"
#include "culmen/store/ownership.hpp"
#include "culmen/store/rows.hpp"
#include "culmen/store/schema.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

std::int64_t integer(const LeafRow::Value& value) {
  const auto* found = std::get_if<std::int64_t>(&value);
  return found != nullptr ? *found : 0;
}

double real(const LeafRow::Value& value) {
  const auto* found = std::get_if<double>(&value);
  return found != nullptr ? *found : static_cast<double>(integer(value));
}

/// The rows that a walk over all pages finds, read when they are first needed.
class Stray {
 public:
  explicit Stray(std::string path) : path_(std::move(path)) {}

  const std::map<std::uint64_t, CallRecord>& calls() { return read(), calls_; }
  const std::map<EvaluationId, OutcomeRecord>& outcomes() { return read(), outcomes_; }

 private:
  void read() {
    if (std::exchange(read_, true)) return;
    visit_leaves(path_, [this](const LeafRow& row) {
      try {
        if (row.values.size() == 5) add_call(row);
        if (row.values.size() == 8) add_outcome(row);
      } catch (const Error&) {  // another table, or damaged
      }
    });
  }

  void add_call(const LeafRow& row) {
    const auto* data = std::get_if<Bytes>(&row.values[4]);
    const auto kind = integer(row.values[1]);
    if (data == nullptr || kind < 0 || kind > static_cast<int>(CallKind::saved)) return;
    CallRecord call;
    call.kind = static_cast<CallKind>(kind);
    call.wanted = static_cast<std::uint64_t>(integer(row.values[2]));
    decode(*data, call);
    calls_.emplace(row.id, std::move(call));
  }

  void add_outcome(const LeafRow& row) {
    const auto* data = std::get_if<Bytes>(&row.values[7]);
    if (data == nullptr) return;
    OutcomeRecord record;
    record.evaluation = static_cast<EvaluationId>(row.id);
    record.epoch = static_cast<Epoch>(integer(row.values[1]));
    record.attempt = static_cast<Attempt>(integer(row.values[2]));
    record.worker = static_cast<WorkerId>(integer(row.values[3]));
    record.at_s = real(row.values[4]);
    decode(*data, record.outcome);
    outcomes_.emplace(record.evaluation, std::move(record));
  }

  std::string path_;
  bool read_ = false;
  std::map<std::uint64_t, CallRecord> calls_;
  std::map<EvaluationId, OutcomeRecord> outcomes_;
};

/// The number of calls and outcomes that the store counts.
struct Counted {
  std::uint64_t calls = 0, outcomes = 0;
};

std::optional<Counted> counted(Database& database) {
  try {
    Statement select(database, "SELECT calls, outcomes FROM progress");
    auto rows = select.rows();
    if (!rows.next()) return {};
    return Counted{static_cast<std::uint64_t>(rows.integer(0)), static_cast<std::uint64_t>(rows.integer(1))};
  } catch (const StoreError&) {
    return {};
  }
}

/// The rows of a damaged store, one at a time: a damaged row is none.
class Remains {
 public:
  explicit Remains(Database& database)
      : counted_(culmen::counted(database)),
        stray_(database.path()),
        one_call_(select_calls(database, "WHERE number = ?1")),
        one_outcome_(select_outcomes(database, "WHERE evaluation = ?1")) {}

  std::optional<CallRecord> call(std::uint64_t number) {
    if (auto found = read(one_call_, number, call_of)) return found;
    return stray(stray_.calls(), number);
  }
  std::optional<OutcomeRecord> outcome(EvaluationId id) {
    if (auto found = read(one_outcome_, id, outcome_of)) return found;
    return stray(stray_.outcomes(), id);
  }
  /// The number behind the last call.
  std::uint64_t end() {
    const auto& calls = stray_.calls();
    const auto end = calls.empty() ? 0 : calls.rbegin()->first + 1;
    return counted_ ? std::max(counted_->calls, end) : end;
  }
  const std::optional<Counted>& counted() const { return counted_; }

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
  template <class Record>
  static std::optional<Record> stray(const std::map<std::uint64_t, Record>& rows, std::uint64_t id) {
    const auto found = rows.find(id);
    return found != rows.end() ? std::optional(found->second) : std::nullopt;
  }

  std::optional<Counted> counted_;
  Stray stray_;
  Statement one_call_, one_outcome_;
};

/// Appends the calls up to the first one that cannot be repeated: a damaged one, or a tell without its outcomes. Of the
/// calls behind it, it saves the candidates that have an outcome.
class Rebuilding {
 public:
  Rebuilding(Remains& from, Journal& to) : from_(from), to_(to) {}

  Rescued run() {
    std::uint64_t number = 0;
    while (append(number)) ++number;
    for (const auto id : open_) take(id);
    if (!from_.counted() || number < from_.counted()->calls) {
      for (; number < from_.end(); ++number) collect(number);
    }
    save();
    to_.commit();
    return found_;
  }

 private:
  bool append(std::uint64_t number) {
    const auto call = from_.call(number);
    if (!call) return false;
    if (call->kind == CallKind::saved) return keep(*call), true;
    const bool ends = call->kind == CallKind::tell || call->kind == CallKind::cancel;
    const auto known = [&](EvaluationId id) { return open_.contains(id); };
    if (ends && !std::ranges::all_of(call->ids, known)) return false;
    if (call->kind == CallKind::tell && !std::ranges::all_of(call->ids, [&](EvaluationId id) { return take(id); }))
      return false;
    to_.append(*call);
    for (const auto& candidate : call->candidates) open_.insert(candidate.id);
    if (!call->candidates.empty()) next_ = call->candidates.back().id + 1;
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

  void collect(std::uint64_t number) {
    const auto call = from_.call(number);
    if (call && (call->kind == CallKind::ask || call->kind == CallKind::saved)) keep(*call);
  }

  void keep(const CallRecord& call) {
    for (const auto& candidate : call.candidates) behind_.insert_or_assign(candidate.id, candidate);
  }

  /// One row for each run of consecutive numbers.
  void save() {
    CallRecord run;
    run.kind = CallKind::saved;
    for (auto& [id, candidate] : behind_) {
      if (id < next_ || !take(id)) continue;
      const bool follows = !run.candidates.empty() && run.candidates.back().id + 1 == id &&
                           run.candidates.back().x.size() == candidate.x.size();
      if (!follows) append_saved(run);
      run.candidates.push_back(std::move(candidate));
      ++found_.behind;
    }
    append_saved(run);
  }

  void append_saved(CallRecord& run) {
    if (!run.candidates.empty()) to_.append(run);
    run.candidates.clear();
  }

  Remains& from_;
  Journal& to_;
  EvaluationId next_ = 0;
  std::set<EvaluationId> open_, taken_;
  std::map<EvaluationId, Candidate> behind_;
  Rescued found_;
};

/// A truncated file cannot even be opened: a copy of it, filled up with zeros to the length in its header.
class FullLength {
 public:
  FullLength(const std::string& path, const std::string& copy) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    unsigned char head[32] = {};
    if (!file.read(reinterpret_cast<char*>(head), sizeof head)) return;
    const auto at = [&](std::size_t i) { return std::uintmax_t{head[i]}; };
    const auto page = at(16) << 8 | at(17);
    const auto length = (at(28) << 24 | at(29) << 16 | at(30) << 8 | at(31)) * (page == 1 ? 65536 : page);
    if (fs::file_size(path) >= length || length > most_bytes || has_log(path)) return;
    fs::copy_file(path, copy);
    path_ = copy_ = copy;
    fs::resize_file(copy, length);
  }
  ~FullLength() {
    if (!copy_.empty()) remove_store(copy_);
  }
  FullLength(const FullLength&) = delete;
  const std::string& path() const { return path_; }

 private:
  static constexpr auto most_bytes = std::uintmax_t{1} << 40;
  std::string path_, copy_;
};

[[noreturn]] void nothing(const std::string& path, const char* why) {
  throw StoreError(fmt::format("{}: nothing can be rescued, because {}", path, why));
}

Database open_damaged(const std::string& path, const std::string& name, NetworkProbe network) {
  try {
    return open_for_reading(path, network);
  } catch (const StoreError& error) {
    if (std::string_view(error.what()).find("is damaged") == std::string_view::npos) throw;
    nothing(name, "its table of contents is damaged");
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
  if (fs::exists(to)) throw InputError(fmt::format("{}: exists already; give another name", to));
  const FullLength full(from, to + ".part");
  auto damaged = open_damaged(full.path(), from, network);
  refuse_if_held(damaged);
  StudyRecord study;
  try {
    study = read_study(damaged);
  } catch (const StoreError&) {
    study = {};
  }
  if (study.fingerprint.empty() || has_null(study.configuration))
    nothing(from, "the description of the study is damaged");
  auto journal = Journal::create(to, study, Durability::process, network);
  try {
    Remains remains(damaged);
    auto found = Rebuilding(remains, journal).run();
    if (const auto& before = remains.counted())
      found.lost = before->outcomes > found.outcomes ? before->outcomes - found.outcomes : 0;
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
