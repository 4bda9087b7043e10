// The part of SQLite's C interface that the journal needs (https://www.sqlite.org/c3ref/intro.html), with errors as
// StoreError sentences.
#pragma once
#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "culmen/base/bytes.hpp"
#include "culmen/base/error.hpp"

namespace culmen {

/// SQLite cannot read the file. A rescue may.
class DamagedFile : public StoreError {
 public:
  using StoreError::StoreError;
};

inline constexpr int page_bytes = 4096;  // SQLite's own choice

/// One connection, for one thread at a time.
class Database {
 public:
  /// read_and_tidy: only reads, but removes the log and its index at the end if no other process has the file open.
  enum class Mode { create, write, read, read_and_tidy, read_immutable };
  Database(std::string path, Mode mode);

  const std::string& path() const { return path_; }
  /// Whether there is a database in the file; an empty one counts.
  bool is_database();
  /// Runs statements and drops their rows.
  void execute(const char* sql);
  bool in_transaction() const { return sqlite3_get_autocommit(handle_.get()) == 0; }
  /// Rows that the last INSERT, UPDATE or DELETE changed.
  int changes() const { return sqlite3_changes(handle_.get()); }
  /// A page as it is in the file itself, regardless of the log. Bytes behind the file's end are 0. Opening the file
  /// once more would release this process's locks (https://www.sqlite.org/howtocorrupt.html, section 2.2).
  std::string page_in_file(std::int64_t number);
  /// Closing this connection writes nothing into the file.
  void leave_file_alone();
  /// Closing this connection does not remove the log, even if no other process has the file open.
  void keep_log();
  /// How long a statement waits for another process's lock.
  void wait_for_locks(int milliseconds) { sqlite3_busy_timeout(handle_.get(), milliseconds); }
  /// Copies the write-ahead log into the file, as far as readers (and another running checkpoint) allow; some modes
  /// (https://www.sqlite.org/c3ref/wal_checkpoint_v2.html) also empty it. False: not all of the log.
  bool checkpoint(int mode);
  /// Copies all of this database, as it is at one moment, into another one, which is empty.
  void back_up(Database& to);
  /// From now on commits do not checkpoint, but write the log's number of pages here; `pages` must outlive this.
  void count_log_pages(std::uint64_t& pages);
  /// Throws the StoreError for the last call's result code.
  [[noreturn]] void fail(int code) const;

 private:
  friend class Statement;
  std::string sentence(int code, int system, const std::string& reason) const;
  std::string path_;
  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
};

/// A prepared statement, kept for the life of its database.
class Statement {
 public:
  Statement(Database& database, const char* sql);

  /// One execution; its end resets the statement, which ends a read transaction.
  class Rows {
   public:
    explicit Rows(Statement& statement) : statement_(statement) {}
    ~Rows() { sqlite3_reset(statement_.handle_.get()); }
    Rows(const Rows&) = delete;
    bool next();
    bool null(int column) const { return sqlite3_column_type(raw(), column) == SQLITE_NULL; }
    std::int64_t integer(int column) const { return sqlite3_column_int64(raw(), column); }
    double real(int column) const { return sqlite3_column_double(raw(), column); }
    std::string text(int column) const;
    /// Valid until next().
    BytesView blob(int column) const;

   private:
    sqlite3_stmt* raw() const { return statement_.handle_.get(); }
    Statement& statement_;
  };

  /// Binds ?1, ?2, … and gives the rows. Blobs and texts must outlive the execution.
  template <class... Values>
  Rows rows(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return Rows(*this);
  }
  /// Executes to the end.
  template <class... Values>
  void run(const Values&... values) {
    auto all = rows(values...);
    while (all.next()) {
    }
  }

 private:
  void bind(int index, std::int64_t value) { check(sqlite3_bind_int64(handle_.get(), index, value)); }
  void bind(int index, std::uint64_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, std::uint32_t value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, int value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, double value) { check(sqlite3_bind_double(handle_.get(), index, value)); }
  void bind(int index, std::string_view value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, BytesView value);
  void bind(int index, const Bytes& value) { bind(index, BytesView(value)); }
  void bind(int index, const std::optional<std::uint64_t>& value);
  void check(int code) const {
    if (code != SQLITE_OK) database_.fail(code);
  }

  Database& database_;
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> handle_;
};

}  // namespace culmen
