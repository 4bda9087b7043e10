#include "culmen/worker/process/evaluation_folders.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>

#include "culmen/base/error.hpp"

namespace culmen {
namespace fs = std::filesystem;

namespace {
void write_text(const std::string& path, std::string_view text, int how) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  if (fd < 0) return;
  while (!text.empty()) {
    const auto n = ::write(fd, text.data(), text.size());
    if (n <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  close(fd);
}
}  // namespace

void keep_text(const std::string& path, std::string_view text) { write_text(path, text, O_TRUNC); }

void add_text(const std::string& path, std::string_view text) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  write_text(path, text, O_APPEND);
}

EvaluationFolders::EvaluationFolders(const std::string& working_folder) {
  if (working_folder.empty())
    throw InputError("a command needs a working folder, in which each evaluation gets its own");
  working_folder_ = fs::absolute(working_folder).string();
  std::error_code error;
  fs::create_directories(working_folder_, error);
  if (error) throw InputError(fmt::format("cannot make the working folder '{}': {}", working_folder_, error.message()));
}

EvaluationFolders::~EvaluationFolders() {
  if (!spare_.empty()) rmdir(spare_.c_str());
}

std::string EvaluationFolders::enter(EvaluationId evaluation) {
  auto folder = fmt::format("{}/{}", working_folder_, evaluation);
  if (!spare_.empty() && rename(spare_.c_str(), folder.c_str()) == 0) {
    spare_.clear();
  } else if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    throw ResourceError(fmt::format("cannot make the evaluation's folder '{}': {}", folder, std::strerror(errno)));
  }
  return folder;
}

void EvaluationFolders::empty(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) fs::remove_all(entry.path(), error);
  leave(folder);
}

void EvaluationFolders::leave(const std::string& folder) {
  std::error_code error;
  if (!fs::is_empty(folder, error) || error) return;
  if (!spare_.empty() && spare_ != folder) rmdir(spare_.c_str());
  spare_ = folder;
}

}  // namespace culmen
