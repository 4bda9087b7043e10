// Copies of an open store.
#pragma once
#include <string>

#include "culmen/base/file_system.hpp"
#include "culmen/store/sqlite.hpp"

namespace culmen {

/// Copies a store to a new file, while a master may be writing, and without the owner. Throws InputError if the new
/// file exists.
void copy_store(Database& source, const std::string& to, std::string (*network)(const std::string& path));

/// For an open store whose file is gone from `place`. Writes a copy next to that place and throws a StoreError that
/// names the copy. `fate` says what happened to the file, for example "was deleted".
[[noreturn]] void save_elsewhere(Database& database, const std::string& place, const std::string& fate);

}  // namespace culmen
