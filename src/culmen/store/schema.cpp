#include "culmen/store/schema.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>

#include "culmen/base/error.hpp"
#include "culmen/base/file_system.hpp"
#include "culmen/store/checksum.hpp"
#include "culmen/store/log.hpp"
#include "culmen/store/progress.hpp"
#include "culmen/store/rescue.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;

constexpr const char* tables = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE epochs(epoch INTEGER PRIMARY KEY, started_s REAL, host TEXT, pid INTEGER, build TEXT);
CREATE TABLE owner(host TEXT, boot TEXT, namespace TEXT, pid INTEGER, ticks INTEGER, epoch INTEGER, renewed_s REAL);
CREATE TABLE calls(number INTEGER PRIMARY KEY, kind INTEGER, wanted INTEGER, first INTEGER, data BLOB,
                   checksum INTEGER);
CREATE INDEX asked ON calls(first) WHERE first IS NOT NULL;
CREATE TABLE outcomes(evaluation INTEGER PRIMARY KEY, epoch INTEGER, attempt INTEGER, worker INTEGER, at_s REAL,
                      status INTEGER, value REAL, data BLOB, checksum INTEGER);
CREATE TABLE progress(calls INTEGER, asked INTEGER, outcomes INTEGER, told INTEGER, failed INTEGER,
                      last_outcome_s REAL, best INTEGER, best_value REAL, best_violation REAL,
                      finished TEXT, checksum INTEGER);
CREATE TABLE failures(status INTEGER PRIMARY KEY, count INTEGER, first INTEGER);
CREATE TABLE description(id INTEGER PRIMARY KEY, name TEXT, configuration TEXT, fingerprint TEXT, build TEXT,
                         created_s REAL, budget INTEGER, checksum INTEGER);
INSERT INTO progress(calls) VALUES (0);
)";

/// Twice: in meta, and once more on a page of its own, for a rescue.
void write_study(Database& database, const StudyRecord& study) {
  const auto checksum = checksum_of(study);
  Statement insert(database, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)");
  insert.run("name", study.name);
  insert.run("configuration", study.configuration);
  insert.run("fingerprint", study.fingerprint);
  insert.run("build", study.build);
  insert.run("created_s", study.created_s);
  insert.run("budget", study.budget);
  insert.run("checksum", checksum);
  Statement(database, "INSERT OR REPLACE INTO description VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)")
      .run(study.name, study.configuration, study.fingerprint, study.build, study.created_s, study.budget, checksum);
}

std::int64_t number(Database& database, const char* sql) {
  Statement statement(database, sql);
  auto rows = statement.rows();
  return rows.next() ? rows.integer(0) : 0;
}

std::string folder_of(const std::string& path) { return fs::absolute(path).parent_path().string(); }

bool folder_is_writable(const std::string& path) { return access(folder_of(path).c_str(), W_OK) == 0; }

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const std::string& path, const std::string& sentence) {
  throw InputError(fmt::format("{}: {}", path, sentence));
}

void refuse_network(const std::string& path, const std::string& kind) {
  if (kind.empty()) return;
  const auto local = (fs::path(local_folder()) / fs::path(path).filename()).string();
  refuse(path, fmt::format(
                   "lies on a network file system ({}), where a running study is not safe; use a local path such as {}",
                   kind, local));
}

void expect_file(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) refuse(path, "there is no such file");
  if (status.type() == fs::file_type::none) refuse(path, "cannot be opened: " + error.message());
  if (fs::is_directory(status)) refuse(path, "is a folder, not a culmen study");
  if (!fs::is_regular_file(status)) refuse(path, "is not a regular file, so it is not a culmen study");
  if (access(path.c_str(), R_OK) != 0) refuse(path, "cannot be read: " + reason(errno));
}

void expect_writable(const std::string& path) {
  // SQLite would open it for reading instead, and fail later with another reason.
  if (access(path.c_str(), W_OK) != 0) refuse(path, "cannot be written: " + reason(errno));
  if (!folder_is_writable(path))
    refuse(path, fmt::format("its folder {}, where a running study keeps its log, cannot be written: {}",
                             folder_of(path), reason(errno)));
}

/// Creates the file itself, because SQLite tries several ways to open one, and reports the last one's reason.
void make_file(const std::string& path) {
  const auto folder = folder_of(path);
  std::error_code none;
  const auto status = fs::status(folder, none);
  if (status.type() == fs::file_type::not_found) refuse(path, fmt::format("there is no folder {}", folder));
  if (fs::exists(status) && !fs::is_directory(status)) refuse(path, fmt::format("{} is not a folder", folder));
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file >= 0) {
    close(file);
    return;
  }
  const int error = errno;
  if (error == ENOENT) refuse(path, fmt::format("no file can be created in the folder {}", folder));
  refuse(path, fmt::format("cannot be created in the folder {}: {}", folder, reason(error)));
}

/// SQLite reads the columns as the file describes them: a wrong letter there hides rows without an error.
void expect_tables(Database& database) {
  std::set<std::string> found;
  Statement select(database, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  for (auto rows = select.rows(); rows.next();) found.insert(rows.text(0) + ';');
  std::istringstream lines(tables);
  std::string statement;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("INSERT")) break;
    statement += (statement.empty() ? "" : "\n") + line;
    if (!line.ends_with(';')) continue;
    if (!found.contains(statement))
      throw DamagedFile(fmt::format("{}: the description of its tables is damaged; {}", database.path(),
                                    how_to_rescue(database.path())));
    statement.clear();
  }
}

/// Of a file that is no database: a damaged store may begin so.
bool begins_with_zeros(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[16];
  return file.read(head, sizeof head) && std::ranges::all_of(head, [](char c) { return c == 0; });
}

void expect_study(Database& database) {
  const auto& path = database.path();
  if (!database.is_database() || number(database, "PRAGMA application_id") != application_id)
    throw NotAStudy(
        fmt::format("{}: is not a culmen study{}", path,
                    begins_with_zeros(path) ? ", or its beginning is damaged; " + how_to_rescue(path) : ""));
  const auto version = number(database, "PRAGMA user_version");
  if (version == format_version) return expect_tables(database);
  throw StoreError(fmt::format("{}: was written by {} culmen (format {}, but this one reads format {})", path,
                               version > format_version ? "a newer" : "an older", version, format_version));
}

void refuse_damaged_log(const std::string& path) {
  if (log_is_damaged(path))
    throw StoreError(fmt::format("{}: its log {}-wal is damaged, and evaluations would be lost; {}", path, path,
                                 how_to_rescue(path)));
}

}  // namespace

Database make_study_file(const std::string& path, const StudyRecord& study, NetworkProbe network) {
  refuse_network(path, network(path));
  const auto exists = [&] {
    return InputError(fmt::format("{}: exists already; resume it, or give another name", path));
  };
  std::error_code none;
  if (fs::exists(path, none) && (!fs::is_regular_file(path, none) || fs::file_size(path, none) > 0)) throw exists();
  if (fs::exists(path, none)) expect_writable(path);
  else make_file(path);
  Database database(path, Database::Mode::create);
  database.execute("BEGIN EXCLUSIVE");
  if (number(database, "SELECT count(*) FROM sqlite_schema") > 0) throw exists();
  database.execute(tables);
  database.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, format_version).c_str());
  write_study(database, study);
  ProgressRow(database).save(Tally());
  return database;
}

Database open_for_writing(const std::string& path, NetworkProbe network) {
  expect_file(path);
  refuse_network(path, network(path));
  expect_writable(path);
  refuse_damaged_log(path);
  Database database(path, Database::Mode::write);
  expect_study(database);
  return database;
}

Database open_for_reading(const std::string& path, NetworkProbe network) {
  expect_file(path);
  const auto kind = network(path);
  const bool log = has_log(path);
  if (log) {
    refuse_network(path, kind);
    refuse_damaged_log(path);
  }
  const bool writable = access(path.c_str(), W_OK) == 0 && folder_is_writable(path);
  // A file in WAL mode needs its -shm beside it, except when nobody can write.
  const bool frozen = !log && (!kind.empty() || !folder_is_writable(path));
  const auto mode = frozen     ? Database::Mode::read_immutable
                    : writable ? Database::Mode::read_and_tidy
                               : Database::Mode::read;
  Database database(path, mode);
  expect_study(database);
  return database;
}

void set_write_mode(Database& database, Durability durability) {
  // A checkpoint of 1000 pages (4 MB) keeps close() short; if a reader has delayed the log,
  // it is truncated.
  database.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 16777216");
  database.execute(durability == Durability::power ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

StudyRecord read_study(Database& database) {
  // One statement sees one state. Between two of them, a resume may write another description.
  Statement select(database, "SELECT key, value FROM meta");
  StudyRecord study;
  std::optional<std::int64_t> checksum;
  auto rows = select.rows();
  while (rows.next()) {
    const auto key = rows.text(0);
    if (key == "name") study.name = rows.text(1);
    if (key == "configuration") study.configuration = rows.text(1);
    if (key == "fingerprint") study.fingerprint = rows.text(1);
    if (key == "build") study.build = rows.text(1);
    if (key == "created_s") study.created_s = rows.real(1);
    if (key == "budget") study.budget = static_cast<std::uint64_t>(rows.integer(1));
    if (key == "checksum") checksum = rows.integer(1);
  }
  if (checksum == checksum_of(study)) return study;
  throw StoreError(
      fmt::format("{}: the description of the study is damaged; {}", database.path(), how_to_rescue(database.path())));
}

void write_note(Database& database, const std::string& name, const std::string& text) {
  Statement(database, "INSERT OR REPLACE INTO meta VALUES (?1, ?2)").run("note." + name, text);
}

std::string read_note(Database& database, const std::string& name) {
  Statement select(database, "SELECT value FROM meta WHERE key = ?1");
  const auto key = "note." + name;
  auto rows = select.rows(key);
  return rows.next() ? rows.text(0) : std::string();
}

void make_empty_file(const std::string& path, NetworkProbe network) {
  refuse_network(path, network(path));
  std::error_code none;
  if (fs::exists(path, none)) refuse(path, "exists already; write another name after -o");
  make_file(path);
}

std::vector<std::string> files_of_store(const std::string& path) { return {path, path + "-wal", path + "-shm"}; }

void remove_store(const std::string& path) noexcept {
  for (const auto& file : files_of_store(path)) std::remove(file.c_str());
}

std::string without_log(const std::string& path) {
  return fmt::format(
      "{}: contains no evaluation, but was in use when it was last written, and its log {}-wal is missing. If this is "
      "a copy, copy it again with `culmen export STUDY.db --store -o COPY.db`",
      path, path);
}

void write_running(Database& database, const std::optional<Running>& oldest) {
  if (!oldest) return Statement(database, "DELETE FROM meta WHERE key = 'running'").run();
  const auto text = fmt::format("{} {} {:.3f}", oldest->evaluation, oldest->worker, oldest->since_s);
  Statement(database, "INSERT OR REPLACE INTO meta VALUES ('running', ?1)").run(text);
}

std::optional<Running> read_running(Database& database) {
  Statement select(database, "SELECT value FROM meta WHERE key = 'running'");
  auto rows = select.rows();
  if (!rows.next()) return {};
  std::istringstream text(rows.text(0));
  Running found;
  if (!(text >> found.evaluation >> found.worker >> found.since_s)) return {};
  return found;
}

void replace_configuration(Database& database, const std::string& configuration) {
  auto study = read_study(database);
  study.configuration = configuration;
  write_study(database, study);
}

std::int64_t checksum_of(const StudyRecord& study) {
  return crc_of(std::string_view(study.name), std::string_view(study.configuration),
                std::string_view(study.fingerprint), std::string_view(study.build), study.created_s, study.budget);
}

}  // namespace culmen
