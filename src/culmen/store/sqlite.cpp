#include "culmen/store/sqlite.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "culmen/base/error.hpp"
#include "culmen/store/rescue.hpp"

namespace culmen {
namespace {

constexpr int lock_wait_ms = 10'000;

/// A file as a URI: only a URI can have "immutable" (https://www.sqlite.org/uri.html).
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) uri += c == '%' || c == '?' || c == '#' ? fmt::format("%{:02X}", c) : std::string(1, c);
  return uri + "?immutable=1";
}

bool is_damage(int code) { return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB; }

int open_flags(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    case Database::Mode::write:
    case Database::Mode::read_and_tidy:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    case Database::Mode::read:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    case Database::Mode::read_immutable:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;
  }
  return 0;
}

}  // namespace

Database::Database(std::string path, Mode mode) : path_(std::move(path)), handle_(nullptr, sqlite3_close) {
  const auto name = mode == Mode::read_immutable ? immutable_uri(path_) : path_;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &raw, open_flags(mode), nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) fail(code);
  wait_for_locks(lock_wait_ms);
  if (mode == Mode::read_and_tidy) execute("PRAGMA query_only = ON");
}

bool Database::is_database() {
  const int code = sqlite3_exec(handle_.get(), "PRAGMA schema_version", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_NOTADB) fail(code);
  return code == SQLITE_OK;
}

void Database::keep_log() {
  int yes = 1;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &yes);
}

std::string Database::page_in_file(std::int64_t number) {
  std::string page(page_bytes, '\0');
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  const int code = file->pMethods->xRead(file, page.data(), page_bytes, (number - 1) * page_bytes);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) fail(code);
  return page;
}

void Database::leave_file_alone() { sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

bool Database::checkpoint(int mode) {
  int pages = 0, copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(handle_.get(), nullptr, mode, &pages, &copied);
  if (code != SQLITE_OK && code != SQLITE_BUSY) fail(code);
  return code == SQLITE_OK && pages == copied;
}

void Database::back_up(Database& to) {
  auto* backup = sqlite3_backup_init(to.handle_.get(), "main", handle_.get(), "main");
  if (backup == nullptr) to.fail(sqlite3_errcode(to.handle_.get()));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE) return;
  if (is_damage(code)) fail(code);
  to.fail(code);
}

void Database::count_log_pages(std::uint64_t& pages) {
  const auto note = [](void* to, sqlite3*, const char*, int now) {
    *static_cast<std::uint64_t*>(to) = static_cast<std::uint64_t>(now);
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_.get(), note, &pages);
}

void Database::fail(int code) const {
  const int system = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
  const auto reason = system == 0 ? std::string() : ": " + std::generic_category().message(system);
  const auto message = fmt::format("{}: {}", path_, sentence(code, system, reason));
  if (is_damage(code)) throw DamagedFile(message);
  throw StoreError(message);
}

std::string Database::sentence(int code, int system, const std::string& reason) const {
  if (system == ENOSPC) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "no space left on the disk; all results stored so far are kept";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fmt::format("is damaged ({}); {}", sqlite3_errmsg(handle_.get()), how_to_rescue(path_));
    case SQLITE_READONLY:
      return "cannot be written: the file or its folder is read-only";
    case SQLITE_BUSY:
      return fmt::format("another process has locked it for {} s", lock_wait_ms / 1000);
    case SQLITE_CANTOPEN:
      return "cannot be opened" + reason;
    default:
      return (handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code)) + reason;
  }
}

Statement::Statement(Database& database, const char* sql) : database_(database), handle_(nullptr, sqlite3_finalize) {
  sqlite3_stmt* raw = nullptr;
  check(sqlite3_prepare_v3(database.handle_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr));
  handle_.reset(raw);
}

void Statement::bind(int index, std::string_view value) {
  check(sqlite3_bind_text(handle_.get(), index, value.data(), static_cast<int>(value.size()), SQLITE_STATIC));
}

void Statement::bind(int index, BytesView value) {
  check(sqlite3_bind_blob64(handle_.get(), index, value.data(), value.size(), SQLITE_STATIC));
}

void Statement::bind(int index, const std::optional<std::uint64_t>& value) {
  if (value) bind(index, *value);
  else check(sqlite3_bind_null(handle_.get(), index));
}

bool Statement::Rows::next() {
  const int code = sqlite3_step(raw());
  if (code != SQLITE_ROW && code != SQLITE_DONE) statement_.database_.fail(code);
  return code == SQLITE_ROW;
}

std::string Statement::Rows::text(int column) const {
  const auto bytes = blob(column);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

BytesView Statement::Rows::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(raw(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(raw(), column))};
}

}  // namespace culmen
