// The write-ahead log of a store, read without SQLite, which drops all that lies behind a damaged frame.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "culmen/base/bytes.hpp"

namespace culmen {

/// Whether there is a write-ahead log with content.
bool has_log(const std::string& path);

/// Whether committed frames lie behind a damaged one: SQLite would drop them without an error. False for a log whose
/// end is torn, as a crash leaves it, and for one that another process is writing. Format:
/// https://www.sqlite.org/fileformat2.html#walformat
bool log_is_damaged(const std::string& path);

/// Visits the pages of the committed frames whose checksums are right, in the order of the log: a page may come again.
void visit_log(const std::string& path, const std::function<void(std::uint64_t page, BytesView content)>& visit);

/// Writes these pages into `copy`, a copy of the database.
void apply_log(const std::string& path, const std::string& copy);

}  // namespace culmen
