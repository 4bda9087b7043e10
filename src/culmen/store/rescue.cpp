#include "culmen/store/rescue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/base/shell_word.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/store/log.hpp"
#include "culmen/store/ownership.hpp"
#include "culmen/store/progress.hpp"
#include "culmen/store/rows.hpp"
#include "culmen/store/schema.hpp"
#include "culmen/store/sqlite.hpp"
#include "culmen/store/stray_rows.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

/// The damaged file, or a completed copy of it. The copy also contains the readable part of a damaged log, and zeros up
/// to the length in the file's header: SQLite does not open a shorter file.
class Complete {
 public:
  Complete(const std::string& path, std::string copy) : path_(path), from_(path), copy_(std::move(copy)) {
    if (log_is_damaged(path) || (!has_log(path) && is_truncated())) make_copy();
  }
  ~Complete() {
    if (path_ == copy_) remove_store(copy_);
  }
  Complete(const Complete&) = delete;
  const std::string& path() const { return path_; }
  const std::string& given() const { return from_; }

  /// For a walk over the pages, which sees no log.
  void add_log() {
    if (path_ != copy_ && has_log(from_)) make_copy();
  }

 private:
  static constexpr auto most_bytes = std::uintmax_t{1} << 40;

  void make_copy() {
    std::error_code error;
    fs::copy_file(from_, copy_, error);
    path_ = copy_;
    if (!error) apply_log(from_, copy_);
    if (!error && is_truncated()) fs::resize_file(copy_, length(), error);
    if (!error) return;
    remove_store(copy_);
    throw StoreError(fmt::format("{}: cannot be written: {}", copy_, error.message()));
  }

  bool is_truncated() const {
    const auto full = length();
    return full > 0 && fs::file_size(path_) < full;
  }

  /// As the file's header says; 0 if that cannot be.
  std::uintmax_t length() const {
    std::ifstream file(path_, std::ios::binary);
    unsigned char head[32] = {};
    if (!file.read(reinterpret_cast<char*>(head), sizeof head)) return 0;
    const auto at = [&](std::size_t i) { return std::uintmax_t{head[i]}; };
    const auto page = at(16) << 8 | at(17);
    const auto length = (at(28) << 24 | at(29) << 16 | at(30) << 8 | at(31)) * (page == 1 ? 65536 : page);
    return length <= most_bytes ? length : 0;
  }

  std::string path_, from_, copy_;
};

/// The number of calls and outcomes that the store counts.
struct Counted {
  std::uint64_t calls = 0, outcomes = 0;
};

std::optional<Counted> counted(Database& database) {
  try {
    const auto progress = ProgressRow(database).load();
    return Counted{progress.calls, progress.outcomes};
  } catch (const StoreError&) {
    return {};
  }
}

/// The rows that SQLite can read in a damaged store, one at a time; a damaged row counts as missing.
class Intact {
 public:
  explicit Intact(Database& database)
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

/// The same, and what a walk over all pages finds where that is needed.
class Remains {
 public:
  /// `database`: none if SQLite cannot open the file.
  Remains(const Complete& file, std::optional<Database>& database) : path_(file.path()), log_of_(file.given()) {
    if (!database) return;
    counted_ = culmen::counted(*database);
    try {
      intact_.emplace(*database);
      study_ = read_study(*database);
    } catch (const StoreError&) {  // damaged
    }
  }

  /// None: damaged.
  std::optional<StudyRecord> study() { return study_ ? study_ : stray().study; }
  std::optional<CallRecord> call(std::uint64_t number) {
    auto found = intact_ ? intact_->call(number) : std::nullopt;
    return found ? found : find(stray().calls, number);
  }
  std::optional<OutcomeRecord> outcome(EvaluationId id) {
    if (path_ != log_of_ && stray().reused.contains(id)) return {};
    auto found = intact_ ? intact_->outcome(id) : std::nullopt;
    return found ? found : find(stray().outcomes, id);
  }
  /// The number behind the last call.
  std::uint64_t end() {
    const auto& calls = stray().calls;
    const auto end = calls.empty() ? 0 : calls.rbegin()->first + 1;
    return counted_ ? std::max(counted_->calls, end) : end;
  }
  const std::optional<Counted>& counted() const { return counted_; }

 private:
  template <class Record>
  static std::optional<Record> find(const std::map<std::uint64_t, Record>& rows, std::uint64_t id) {
    const auto found = rows.find(id);
    return found != rows.end() ? std::optional(found->second) : std::nullopt;
  }

  const StrayRows& stray() {
    if (!stray_) stray_ = find_stray_rows(path_, log_of_);
    return *stray_;
  }

  std::string path_, log_of_;
  std::optional<Counted> counted_;
  std::optional<StudyRecord> study_;
  std::optional<Intact> intact_;
  std::optional<StrayRows> stray_;
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

std::string replaced(std::string text, const std::string& name, const std::string& by) {
  if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), by);
  return text;
}

void refuse_if_held(Database& database, const std::string& name) {
  std::optional<Owner> owner;
  try {
    owner = Ownership(database).live();
  } catch (const StoreError&) {
    return;  // damaged
  }
  if (owner) throw StoreError(fmt::format("{}: belongs to a running master ({})", name, owner->name()));
}

}  // namespace

Rescued rescue(const std::string& from, const std::string& to, NetworkProbe network) {
  if (fs::exists(to)) throw InputError(fmt::format("{}: exists already; write another name after -o", to));
  Complete file(from, to + ".part");
  std::optional<Database> database;
  bool is_study = true;
  try {
    database.emplace(open_for_reading(file.path(), network));
  } catch (const DamagedFile&) {
    file.add_log();
  } catch (const NotAStudy&) {
    is_study = false;
    file.add_log();
  } catch (const StoreError& e) {
    throw StoreError(replaced(e.what(), file.path(), from));
  }
  if (database) refuse_if_held(*database, from);
  Remains remains(file, database);
  const auto study = remains.study();
  if (!study) {
    if (!is_study) throw NotAStudy(fmt::format("{}: is not a culmen study", from));
    throw StoreError(fmt::format("{}: nothing can be rescued, because the description of the study is damaged", from));
  }
  auto journal = Journal::create(to, *study, Durability::process, network);
  try {
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
  return fmt::format("`culmen rescue {}` writes what can be read into a new store", shell_word(path));
}

}  // namespace culmen
