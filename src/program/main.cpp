// `culmen` on PATH. Children of a run and ranks other than 0 stay native, so that a thousand of them do not import
// Python. All other commands run as `python -m culmen`.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/executable.hpp"
#include "culmen/base/process.hpp"
#include "culmen/store/journal.hpp"
#include "culmen/study/crew/local_worker.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/transport/mpi/launcher.hpp"
#include "culmen/worker/process/guard.hpp"
#include "culmen/worker/slot/slot_program.hpp"
#include "transport_point.hpp"

namespace {

bool has_package(const std::string& python) {
  culmen::SpawnRequest request;
  request.command = {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('culmen') is None)"};
  return culmen::reap(culmen::spawn(request)) == 0;
}

/// CULMEN_PYTHON, otherwise the interpreter of this program's virtual environment, otherwise that on PATH. The last
/// may have no package, if this program was installed for C++.
std::string find_python() {
  if (const char* named = std::getenv("CULMEN_PYTHON"); named != nullptr && *named != '\0') return named;
  const auto beside = culmen::own_folder() + "/python3";
  if (access(beside.c_str(), X_OK) == 0) return beside;
  if (const int why = errno; std::filesystem::is_symlink(std::filesystem::symlink_status(beside)))
    throw culmen::Error(fmt::format(
        "{}, the Python of this virtual environment, cannot be run: {}; create the environment again, with a "
        "Python that its users can run",
        beside, std::strerror(why)));
  if (!has_package("python3"))
    throw culmen::Error(
        "this program was installed for C++, and the Python package culmen, which has the commands, is not there; "
        "install it with pip, or set CULMEN_PYTHON to the Python that has it");
  return "python3";
}

int become_python(std::vector<const char*> words) {
  const auto python = find_python();
  words.insert(words.begin(), python.c_str());
  words.push_back(nullptr);
  execvp(python.c_str(), const_cast<char* const*>(words.data()));
  fmt::print(stderr, "culmen: cannot start '{}': {}; CULMEN_PYTHON can name the Python that has the package culmen\n",
             python, std::strerror(errno));
  return 127;
}

int run_command(int argc, char** argv) {
  std::vector<const char*> words{"-m", "culmen"};
  words.insert(words.end(), argv + 1, argv + argc);
  return become_python(std::move(words));
}

constexpr const char* team_key = "team_size";
constexpr const char* python_key = "python";

/// The study that a study file or a store describes, as text. If it cannot be read here, it may be any. Empty if the
/// word names no file.
std::string study_in(const std::string& word, bool is_store) {
  const auto any = fmt::format("{} {}", team_key, python_key);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(word, unknown)) return word.ends_with(is_store ? ".db" : ".toml") ? any : "";
  try {
    if (is_store) return culmen::Journal::read(word).study().configuration;
  } catch (const culmen::Error&) {
    return any;
  }
  if (word.ends_with(".db")) return "";
  std::ifstream in(word);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Whether this rank may have to call a Python function: as a member of a team. Looks for words only: a rank that runs
/// Python for nothing does no harm.
bool may_call_python(std::string_view command, int argc, char** argv) {
  bool in_team = false, calls_python = false;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const auto study = word.starts_with("-") ? "" : study_in(word, command != "run");
    in_team |= word.starts_with("--team-size") || study.find(team_key) != study.npos;
    calls_python |= study.find(python_key) != study.npos;
  }
  return in_team && calls_python;
}

/// `__guard PID START MARKER`
int guard(int argc, char** argv) {
  if (argc != 5) return 2;
  culmen::ProcessId master;
  std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), master.pid);
  std::from_chars(argv[3], argv[3] + std::strlen(argv[3]), master.start_ticks);
  return culmen::guard_main(master, argv[4]);
}

int rank(std::string_view command, int argc, char** argv) {
  // Only the master acts on signals, from its start on: a launcher passes them to every rank. A program that replaces
  // this one inherits that they are ignored, until it has handlers of its own.
  for (const int ignored : culmen::stop_signals) signal(ignored, SIG_IGN);
  // Only these commands have work for the other ranks; all others run in rank 0 only. The launch's exit code must be
  // that of rank 0, but launchers return any rank's, or mix them.
  try {
    const std::initializer_list<std::string_view> with_ranks{"run", "resume", "errors", "__point"};
    if (std::ranges::find(with_ranks, command) == with_ranks.end()) return 0;
    if (!may_call_python(command, argc, argv)) return culmen::rank_main();
    setenv("PYTHONSAFEPATH", "1", 1);  // modules in the current folder must not shadow Python's own
    return become_python({"-X", "faulthandler", "-m", "culmen.run.member"});
  } catch (const std::exception& error) {
    fmt::print(stderr, "culmen: rank {}: {}\n", culmen::detect_launch().rank, error.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  try {
    if (command == "__exec") return culmen::exec_main(argc - 1, argv + 1);
    if (command == "__slot") return culmen::slot_main();
    if (command == "__guard") return guard(argc, argv);
    if (command == "__worker") return culmen::local_worker_main(argc - 1, argv + 1);
    if (command == "__point_worker") return culmen::point_worker_main(argc, argv);
    if (culmen::detect_launch().rank != 0) return rank(command, argc, argv);
    return command == "__point" ? culmen::point_main(argc, argv) : run_command(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "culmen: {}\n", error.what());
    return 1;
  }
}
