#include "culmen/store/copy.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "culmen/base/error.hpp"
#include "culmen/base/shell_word.hpp"
#include "culmen/store/schema.hpp"

namespace culmen {

void copy_store(Database& source, const std::string& to, NetworkProbe network) {
  make_empty_file(to, network);
  try {
    Database copied(to, Database::Mode::write);
    source.back_up(copied);
    copied.execute("DELETE FROM owner");
    write_running(copied, {});
    copied.checkpoint(SQLITE_CHECKPOINT_TRUNCATE);
  } catch (...) {
    remove_store(to);
    throw;
  }
}

void save_elsewhere(Database& database, const std::string& place, const std::string& fate) {
  auto path = std::filesystem::path(place).replace_extension(".saved.db").string();
  std::string saved = "; its evaluations could not be saved";
  for (int number = 2; std::filesystem::exists(path); ++number)
    path = std::filesystem::path(place).replace_extension(fmt::format(".saved-{}.db", number)).string();
  try {
    if (database.in_transaction()) database.execute("COMMIT");
    copy_store(database, path, network_file_system);
    saved =
        fmt::format("; all its evaluations until now are in {}. To resume: culmen resume {}", path, shell_word(path));
  } catch (const Error&) {
    // There is another error to report.
  }
  throw StoreError(fmt::format("{}: {} while this study used it{}", database.path(), fate, saved));
}

}  // namespace culmen
