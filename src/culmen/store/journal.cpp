#include "culmen/store/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/store/call_codec.hpp"
#include "culmen/store/copy.hpp"
#include "culmen/store/log.hpp"
#include "culmen/store/ownership.hpp"
#include "culmen/store/progress.hpp"
#include "culmen/store/rescue.hpp"
#include "culmen/store/rows.hpp"
#include "culmen/store/schema.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {
namespace {
Brief brief_of(const Outcome& o) { return {o.status, o.value, o.violation}; }
}  // namespace

struct Journal::Impl {
  explicit Impl(Database opened) : database(std::move(opened)) {}

  void begin();
  void leave() noexcept;
  [[noreturn]] void give_up_file();
  void commit();
  void roll_back() noexcept;
  /// Runs f within the open transaction; a failure rolls it back.
  template <class F>
  void write(F f);
  /// The result of `read`; StoreError if it finds the row damaged. `what`: the row's kind, for the sentence.
  template <class F>
  auto undamaged(const char* what, const Statement::Rows& row, F read) const -> decltype(read());
  CallRecord call_at(const Statement::Rows& row) const;
  OutcomeRecord outcome_at(const Statement::Rows& row) const;
  std::optional<OutcomeRecord> outcome(EvaluationId id);
  std::optional<Candidate> candidate(EvaluationId id);
  void forget_outcomes(const std::vector<EvaluationId>& ids);
  void count(const CallRecord& call);

  Database database;
  bool log_is_missing = false;
  StudyRecord study = read_study(database);
  Epoch epoch = 0;
  Ownership ownership{database};
  ProgressRow progress_row{database};
  Tally progress = progress_row.load();
  std::unordered_map<EvaluationId, Brief> untold;  // outcomes that were recorded here, for later tells
  Bytes bytes;
  std::uint64_t log_pages = 0;
  Statement begin_{database, "BEGIN IMMEDIATE"};
  Statement commit_{database, "COMMIT"};
  Statement insert_call{database, "INSERT INTO calls VALUES (?1, ?2, ?3, ?4, ?5, ?6)"};
  Statement insert_outcome{database, "INSERT OR IGNORE INTO outcomes VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"};
  Statement replace_outcome{database,
                            "UPDATE outcomes SET epoch = ?2, attempt = ?3, worker = ?4, at_s = ?5, status = ?6, "
                            "value = ?7, data = ?8, checksum = ?9 WHERE evaluation = ?1 AND epoch < ?2"};
  Statement all_calls = select_calls(database, "ORDER BY number");
  Statement call_that_asked = select_calls(database, "WHERE first <= ?1 ORDER BY first DESC LIMIT 1");
  Statement one_outcome = select_outcomes(database, "WHERE evaluation = ?1");
  Statement next_outcomes = select_outcomes(database, "WHERE evaluation >= ?1 ORDER BY evaluation LIMIT ?2");
  Statement select_epoch{database, "SELECT max(epoch) FROM epochs"};
};

void Journal::Impl::begin() {
  if (database.in_transaction()) return;
  begin_.run();
  if (ownership.has_moved()) save_elsewhere(database, ownership.place(), ownership.fate());
  ownership.check();
}

/// Nothing is written any more, and both files stay as they are.
void Journal::Impl::give_up_file() {
  database.leave_file_alone();
  ownership.forget();
  throw StoreError(fmt::format(
      "{0}: another program has overwritten it while this study used it, so the run ends. The file may have been mixed "
      "with the log of this study since; copy it there again, after you have deleted {0}-wal",
      database.path()));
}

/// Closing the file removes the log: a study that stayed owned would look like a copy without its log.
void Journal::Impl::leave() noexcept {
  if (!ownership.held()) return;
  roll_back();
  try {
    database.wait_for_locks(0);
    begin_.run();
    ownership.check();
    write_running(database, {});
    ownership.give_up();
    commit_.run();
  } catch (const StoreError&) {
    // The log stays, or another master has the study.
  }
}

void Journal::Impl::commit() {
  if (!database.in_transaction()) return;
  progress_row.save(progress);
  commit_.run();
}

void Journal::Impl::roll_back() noexcept {
  try {
    if (database.in_transaction()) database.execute("ROLLBACK");
    progress = progress_row.load();
    untold.clear();
  } catch (const StoreError&) {
    // Report the first error.
  }
}

template <class F>
void Journal::Impl::write(F f) {
  try {
    f();
  } catch (...) {
    roll_back();
    throw;
  }
}

template <class F>
auto Journal::Impl::undamaged(const char* what, const Statement::Rows& row, F read) const -> decltype(read()) {
  try {
    return read();
  } catch (const Error& error) {
    throw StoreError(fmt::format("{}: {} {} is damaged: {}; {}", database.path(), what, row.integer(0), error.what(),
                                 how_to_rescue(database.path())));
  }
}

CallRecord Journal::Impl::call_at(const Statement::Rows& row) const {
  return undamaged("call", row, [&] { return call_of(row); });
}

OutcomeRecord Journal::Impl::outcome_at(const Statement::Rows& row) const {
  return undamaged("the outcome of evaluation", row, [&] { return outcome_of(row); });
}

std::optional<OutcomeRecord> Journal::Impl::outcome(EvaluationId id) {
  auto rows = one_outcome.rows(id);
  if (!rows.next()) return {};
  return outcome_at(rows);
}

std::optional<Candidate> Journal::Impl::candidate(EvaluationId id) {
  auto rows = call_that_asked.rows(id);
  if (!rows.next()) return {};
  return undamaged("call", rows, [&] { return candidate_of(rows, id); });
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() {
  if (impl_) impl_->leave();
}
Journal::Journal(Journal&&) noexcept = default;
Journal& Journal::operator=(Journal&& other) noexcept {
  impl_.swap(other.impl_);
  return *this;
}

Journal Journal::create(const std::string& path, const StudyRecord& study, Durability durability,
                        NetworkProbe network) {
  auto impl = std::make_unique<Impl>(make_study_file(path, study, network));
  impl->write([&] { impl->epoch = impl->ownership.take(study.build); });
  impl->commit_.run();
  set_write_mode(impl->database, durability);
  Journal journal(std::move(impl));
  journal.renew_ownership();  // from here on there is a log until close(): see log_is_missing()
  journal.impl_->ownership.watch_file();
  return journal;
}

Journal Journal::resume(const std::string& path, Durability durability, const std::string& build,
                        const std::string& configuration, NetworkProbe network) {
  const bool no_log = !has_log(path);
  auto impl = std::make_unique<Impl>(open_for_writing(path, network));
  impl->ownership.refuse_if_held();  // before any step that would wait for the other master's lock
  if (no_log && impl->ownership.left_behind() && impl->progress.asked == 0) throw InputError(without_log(path));
  set_write_mode(impl->database, durability);
  impl->begin_.run();
  impl->write([&] {
    impl->epoch = impl->ownership.take(build);
    if (!configuration.empty()) replace_configuration(impl->database, configuration);
  });
  impl->commit_.run();
  if (!configuration.empty()) impl->study.configuration = configuration;
  impl->progress = impl->progress_row.load();
  impl->ownership.watch_file();
  return Journal(std::move(impl));
}

Journal Journal::read(const std::string& path, NetworkProbe network) {
  const bool no_log = !has_log(path);
  auto impl = std::make_unique<Impl>(open_for_reading(path, network));
  if (impl->ownership.left_behind()) {  // without its log it would look like a copy without the log
    impl->log_is_missing = no_log;
    impl->database.keep_log();
  }
  auto rows = impl->select_epoch.rows();
  if (rows.next()) impl->epoch = static_cast<Epoch>(rows.integer(0));
  return Journal(std::move(impl));
}

void Journal::copy(const std::string& from, const std::string& to, NetworkProbe network) {
  auto source = open_for_reading(from, network);
  copy_store(source, to, network);
}

void Journal::keep_note(const std::string& path, const std::string& name, const std::string& text,
                        NetworkProbe network) {
  Database database = open_for_writing(path, network);
  Ownership ownership(database);
  ownership.refuse_if_held();
  set_write_mode(database, Durability::process);
  database.execute("BEGIN IMMEDIATE");
  ownership.refuse_if_held();  // an exception closes the database, which rolls the transaction back
  write_note(database, name, text);
  database.execute("COMMIT");
  database.wait_for_locks(0);
  database.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

std::string Journal::note(const std::string& name) const { return read_note(impl_->database, name); }

const StudyRecord& Journal::study() const { return impl_->study; }
const std::string& Journal::path() const { return impl_->database.path(); }
Epoch Journal::epoch() const { return impl_->epoch; }
bool Journal::log_is_missing() const { return impl_->log_is_missing; }

void Journal::append(const CallRecord& call) {
  impl_->write([&] {
    impl_->begin();
    impl_->bytes.clear();
    encode(call, impl_->bytes);
    if (call.kind == CallKind::ask) impl_->forget_outcomes(call.ids);
    const auto row = row_of(call, impl_->progress.calls, impl_->bytes);
    impl_->insert_call.run(row.number, row.kind, row.wanted, row.first, row.data, row.checksum());
    impl_->count(call);
  });
}

void Journal::Impl::forget_outcomes(const std::vector<EvaluationId>& ids) {
  if (ids.empty()) return;
  Statement forget(database, "DELETE FROM outcomes WHERE evaluation = ?1");
  for (const auto id : ids) {
    forget.run(id);
    progress.outcomes -= static_cast<std::uint64_t>(database.changes());
  }
}

void Journal::Impl::count(const CallRecord& call) {
  progress.add(call);
  if (call.kind != CallKind::tell && call.kind != CallKind::cancel) return;
  for (const auto id : call.ids) {
    const auto known = untold.extract(id);
    if (call.kind == CallKind::cancel) continue;
    if (!known.empty()) {
      progress.add_told(id, known.mapped());
    } else if (const auto record = outcome(id)) {
      progress.add_told(id, brief_of(record->outcome));
    } else {
      throw StoreError(fmt::format("{}: evaluation {} was told, but has no outcome", database.path(), id));
    }
  }
}

void Journal::append(const OutcomeRecord& record) {
  impl_->write([&] {
    impl_->begin();
    impl_->bytes.clear();
    encode(record.outcome, impl_->bytes);
    const auto row = row_of(record, impl_->bytes);
    const auto checksum = row.checksum();
    const auto put = [&](Statement& statement) {
      statement.run(row.evaluation, row.epoch, row.attempt, row.worker, row.at_s, row.status, row.value, row.data,
                    checksum);
      return impl_->database.changes() > 0;
    };
    if (put(impl_->insert_outcome)) impl_->progress.add(record);
    else if (!put(impl_->replace_outcome)) return;
    impl_->untold[record.evaluation] = brief_of(record.outcome);
  });
}

void Journal::commit() {
  impl_->write([&] { impl_->commit(); });
}

void Journal::renew_ownership() {
  impl_->write([&] {
    impl_->begin();
    if (impl_->ownership.is_overwritten()) impl_->give_up_file();
    impl_->ownership.renew();
    impl_->commit();
  });
}

void Journal::show_running(const std::optional<Running>& oldest) {
  impl_->write([&] {
    impl_->begin();
    write_running(impl_->database, oldest);
    impl_->commit();
  });
}

void Journal::defer_checkpoints(std::uint64_t log_pages) {
  impl_->database.execute(fmt::format("PRAGMA journal_size_limit = {}", log_pages * page_bytes).c_str());
  impl_->database.count_log_pages(impl_->log_pages);
}

std::uint64_t Journal::log_pages() const { return impl_->log_pages; }

void Journal::checkpoint() { impl_->database.checkpoint(SQLITE_CHECKPOINT_PASSIVE); }

void Journal::close() {
  impl_->write([&] {
    impl_->begin();
    if (impl_->ownership.is_overwritten()) impl_->give_up_file();
    write_running(impl_->database, {});
    impl_->ownership.give_up();
    impl_->commit();
  });
  impl_->database.wait_for_locks(0);  // a reader may keep the log; the next one to close the file empties it
  impl_->database.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
}

void Journal::replay(const std::function<void(const CallRecord&)>& visit) const {
  auto rows = impl_->all_calls.rows();
  for (std::int64_t number = 0; rows.next(); ++number) {
    if (rows.integer(0) != number)
      throw StoreError(fmt::format("{}: call {} is missing; {}", path(), number, how_to_rescue(path())));
    visit(impl_->call_at(rows));
  }
}

std::optional<OutcomeRecord> Journal::outcome(EvaluationId id) const { return impl_->outcome(id); }

void Journal::outcomes(EvaluationId first, const std::function<void(const OutcomeRecord&)>& visit,
                       std::uint64_t at_most) const {
  auto rows = impl_->next_outcomes.rows(first, std::min<std::uint64_t>(at_most, INT64_MAX));
  while (rows.next()) visit(impl_->outcome_at(rows));
}

std::vector<Journal::Start> Journal::starts() const {
  Statement select(impl_->database, "SELECT epoch, started_s, host, pid, build FROM epochs ORDER BY epoch");
  std::vector<Start> out;
  auto rows = select.rows();
  while (rows.next())
    out.push_back({static_cast<Epoch>(rows.integer(0)), rows.real(1), rows.text(2), rows.integer(3), rows.text(4)});
  return out;
}

Journal::Summary Journal::summary() const {
  const auto progress = impl_->progress_row.load();
  Summary out;
  out.asked = progress.asked;
  out.outcomes = progress.outcomes;
  out.told = progress.told;
  out.failed = progress.failed;
  out.finished = progress.finished;
  out.last_outcome_s = progress.last_outcome_s;
  out.epoch = impl_->epoch;
  if (const auto owner = impl_->ownership.live()) {
    out.owned = true;
    out.owner = owner->name();
    out.epoch = owner->epoch;
    out.running = read_running(impl_->database);
  }
  out.recommended = progress.recommended;
  if (progress.best) {
    out.best = impl_->outcome(*progress.best);
    out.best_candidate = impl_->candidate(*progress.best);
  }
  for (const auto& f : progress.failures) {
    const auto first = impl_->outcome(f.first);
    out.failures.push_back({f.status, f.count, f.first, first ? first->outcome.message : std::string()});
  }
  return out;
}

}  // namespace culmen
