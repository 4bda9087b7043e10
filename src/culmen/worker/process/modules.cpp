#include "culmen/worker/process/modules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <mutex>

#include "culmen/base/error.hpp"
#include "culmen/worker/core/numbers.hpp"

namespace culmen {
namespace {
using Variables = std::map<std::string, std::string>;
constexpr double loading_limit_s = 60;
constexpr int no_module_command = 66;
constexpr std::string_view before_mark("\0culmen:before\0", 15), after_mark("\0culmen:after\0", 14);

// Older module commands report a failure only on standard error.
constexpr const char* script = R"(
PATH=$CULMEN_PATH; export PATH
if [ -n "$CULMEN_LIBRARIES" ]; then LD_LIBRARY_PATH=$CULMEN_LIBRARIES; export LD_LIBRARY_PATH; fi
type module >/dev/null 2>&1 || exit 66
printf '\0culmen:before\0'; env -0
for m in "$@"; do
  module load "$m" || { echo "module load $m ended with exit code $?" >&2; exit 67; }
done
printf '\0culmen:after\0'; env -0
)";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Variables parse(std::string_view text) {
  Variables found;
  while (!text.empty()) {
    const auto entry = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(entry.size() + 1, text.size()));
    const auto equals = entry.find('=');
    if (equals != entry.npos) found.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return found;
}

/// Variables of `module` itself, such as functions and the shell's own: a program does not need them.
bool is_of_the_shell(const std::string& name) {
  return name == "_" || name == "SHLVL" || name == "PWD" || name == "OLDPWD" || name.starts_with("BASH_FUNC_") ||
         name.starts_with("CULMEN_");
}

Variables difference(const std::string& printed) {
  const auto before = printed.find(before_mark), after = printed.find(after_mark);
  const auto old =
      parse(std::string_view(printed).substr(before + before_mark.size(), after - before - before_mark.size()));
  auto now = parse(std::string_view(printed).substr(after + after_mark.size()));
  std::erase_if(now, [&](const auto& entry) {
    const auto at = old.find(entry.first);
    return is_of_the_shell(entry.first) || (at != old.end() && at->second == entry.second);
  });
  return now;
}

Variables load(const std::vector<std::string>& modules, const std::string& run_marker, ProgramRun& program) {
  SpawnRequest request;
  request.command = {"bash", "-lc", script, "culmen"};
  request.command.insert(request.command.end(), modules.begin(), modules.end());
  const auto path = variable("PATH");
  request.environment = {{"CULMEN_RUN", run_marker},
                         {"CULMEN_PATH", path.empty() ? "/usr/bin:/bin" : path},
                         {"CULMEN_LIBRARIES", variable("LD_LIBRARY_PATH")}};
  const auto names = fmt::format("{}", fmt::join(modules, ", "));
  const auto end = program.run(request, null_device(), loading_limit_s);
  if (end == ProgramRun::End::interrupted) throw Error("interrupted");
  if (end == ProgramRun::End::too_late)
    throw InputError(
        fmt::format("loading the modules {} took longer than {} s and was killed", names, loading_limit_s));
  if (WIFEXITED(program.status()) && WEXITSTATUS(program.status()) == no_module_command)
    throw InputError(
        fmt::format("the study needs the modules {}, but a login shell (bash -l) has no command 'module'", names));
  const auto& printed = program.output().text();
  const auto& errors = program.errors().text();
  if (program.status() != 0 || errors.find("ERROR:") != errors.npos || printed.find(after_mark) == printed.npos)
    throw InputError(with_tail(fmt::format("the modules {} cannot be loaded", names), errors));
  return difference(printed);
}
}  // namespace

std::map<std::string, std::string> load_modules(const std::vector<std::string>& modules, const std::string& run_marker,
                                                ProgramRun& program) {
  if (modules.empty()) return {};
  static std::mutex mutex;
  static std::map<std::vector<std::string>, Variables> loaded;
  const std::lock_guard lock(mutex);
  const auto at = loaded.find(modules);
  return at != loaded.end() ? at->second : loaded.emplace(modules, load(modules, run_marker, program)).first->second;
}

}  // namespace culmen
