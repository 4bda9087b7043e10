// The tables of a study's file, and how a file is opened.
#pragma once
#include <string>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// In SQLite's header: "CLMN", and the version of the tables.
inline constexpr int application_id = 0x434C4D4E;
inline constexpr int format_version = 3;

/// The file is readable, but its first page is not that of a culmen study: it is another file, or is damaged.
class NotAStudy : public InputError {
 public:
  using InputError::InputError;
};

/// Makes the tables in a file that is new or empty, in one transaction, which stays open for the caller to fill and
/// commit. Throws InputError if the file has content already, or if no file can be created there.
Database make_study_file(const std::string& path, const StudyRecord& study, NetworkProbe network);
/// Opens an existing file for writing. Throws InputError for a missing file, one that is not a culmen study, one that
/// cannot be read and written, and one on a network file system; StoreError for one of another format.
Database open_for_writing(const std::string& path, NetworkProbe network);
/// The same for reading. In a folder that is read-only, or on a network file system, only a file without a write-ahead
/// log can be read.
Database open_for_reading(const std::string& path, NetworkProbe network);
/// Sets the write-ahead log, its limits and the requested durability; outside any transaction.
void set_write_mode(Database& database, Durability durability);
/// Throws StoreError if it is damaged.
StudyRecord read_study(Database& database);
/// The checksum that the store has of it.
std::int64_t checksum_of(const StudyRecord& study);
/// Creates an empty file for a copy of a store. Throws InputError if it exists or cannot be created.
void make_empty_file(const std::string& path, NetworkProbe network);
/// The file, its log and its index; not all of them need to exist.
std::vector<std::string> files_of_store(const std::string& path);
/// Removes them.
void remove_store(const std::string& path) noexcept;
/// For a copy of a store that was in use, without its log.
std::string without_log(const std::string& path);
/// The evaluation that has run longest; none: forget it.
void write_running(Database& database, const std::optional<Running>& oldest);
std::optional<Running> read_running(Database& database);
void replace_configuration(Database& database, const std::string& configuration);
/// A text of that name beside the study's own records; none if there is none.
void write_note(Database& database, const std::string& name, const std::string& text);
std::string read_note(Database& database, const std::string& name);

}  // namespace culmen
