// The rows of a database file that is damaged, page by page: also those to which no intact page leads.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "culmen/base/bytes.hpp"

namespace culmen {

/// A row of a table, as SQLite's file format stores it (https://www.sqlite.org/fileformat2.html).
struct LeafRow {
  using Value = std::variant<std::monostate, std::int64_t, double, Bytes>;  // NULL, number, text or blob
  std::int64_t id = 0;
  std::vector<Value> values;
};

/// Visits the rows of all tables in the file, in the order of its pages. Rows that cannot be read are left out. Rows
/// that are in the write-ahead log only are not visited.
void visit_leaves(const std::string& path, const std::function<void(const LeafRow&)>& visit);

/// Visits the rows in all versions of the pages that the write-ahead log of `log_of` contains, the oldest first. The
/// parts of a row that are not in its own page are read from `path`.
void visit_logged_leaves(const std::string& log_of, const std::string& path,
                         const std::function<void(const LeafRow&)>& visit);

}  // namespace culmen
