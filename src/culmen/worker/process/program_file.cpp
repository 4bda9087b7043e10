#include "culmen/worker/process/program_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "culmen/base/error.hpp"
#include "culmen/base/executable.hpp"

namespace culmen {
namespace {
/// The first line without its Unix line end; empty if the file is not a script.
std::string script_line(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string line(256, '\0');
  in.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(in.gcount()));
  line.resize(std::min(line.find('\n'), line.size()));
  return line.starts_with("#!") ? line : "";
}
}  // namespace

void check_program_file(const std::string& name, const std::string& file) {
  std::error_code error;
  if (!is_program(file)) {
    const bool there = std::filesystem::is_regular_file(file, error);
    const auto advice = there ? fmt::format("; `chmod +x {}` makes it one", file) : "";
    throw InputError(
        fmt::format("the command's program '{}' is not an executable file (looked at {}){}", name, file, advice));
  }
  auto line = script_line(file);
  if (line.empty()) return;
  if (line.ends_with('\r'))
    throw InputError(
        fmt::format("the lines of {} end as on Windows; `sed -i 's/\\r$//' {}` corrects them", file, file));
  const auto begin = std::min(line.find_first_not_of(" \t", 2), line.size());
  const auto runs = line.substr(begin, line.find_first_of(" \t", begin) - begin);
  if (!runs.empty() && !is_program(runs))
    throw InputError(fmt::format("the first line of {} names the program {}, which was not found", file, runs));
}

std::string hint_at_words(const std::string& name) {
  if (name.find(' ') == name.npos) return {};
  std::string words;
  for (std::size_t at = 0; at < name.size();) {
    const auto end = std::min(name.find(' ', at), name.size());
    if (end > at) words += fmt::format("{}\"{}\"", words.empty() ? "" : ", ", name.substr(at, end - at));
    at = end + 1;
  }
  return fmt::format("; write each word separately: [{}]", words);
}

}  // namespace culmen
