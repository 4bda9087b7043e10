#include "helpers.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/judge.hpp"
#include "culmen/worker/process/guard.hpp"

namespace culmen {
namespace {
std::vector<std::string> folders;  // to remove in the end

class ChildEnvironment : public ::testing::Environment {
  void SetUp() override {
    setenv("PYTHONPATH", PYTHON_PACKAGES, 1);
    for (const char* sanitizer : {"ASAN_OPTIONS", "TSAN_OPTIONS"})
      setenv(sanitizer, "handle_segv=0:handle_abort=0", 0);  // slots shall die as they would
  }
  void TearDown() override {
    for (const auto& folder : folders) std::filesystem::remove_all(folder);
  }
};
const auto* const child_environment = ::testing::AddGlobalTestEnvironment(new ChildEnvironment);
}  // namespace

Space two_parameters() { return {real("x", -10, 10), integer("n", -5, 5)}; }

EvaluatorSpec python_spec(const std::string& function) {
  EvaluatorSpec spec;
  spec.how = PythonSpec{.target = SAMPLES_FOLDER "/functions.py:" + function, .interpreter = PYTHON_INTERPRETER};
  spec.run_marker = make_run_marker();
  return spec;
}

EvaluatorSpec library_spec(const std::string& function, Isolation isolation) {
  EvaluatorSpec spec;
  spec.isolation = isolation;
  spec.how = LibrarySpec{SAMPLES_LIBRARY ":" + function};
  spec.run_marker = make_run_marker();
  return spec;
}

EvaluatorSpec shell_spec(const std::string& script) {
  EvaluatorSpec spec;
  CommandSpec command;
  command.command = {"sh", "-c", script};
  spec.how = command;
  spec.working_folder = fresh_folder();
  spec.run_marker = make_run_marker();
  return spec;
}

Candidate some_candidate() { return {7, {1.5, 2}}; }

Outcome evaluate(const EvaluatorSpec& spec, Attempt attempt) {
  return evaluate(*make_evaluator({two_parameters(), spec}), some_candidate(), attempt);
}

Outcome evaluate(Evaluator& evaluator, const Candidate& candidate, Attempt attempt, const Goals& goals) {
  auto outcome = evaluator.evaluate(candidate, attempt);
  auto judged = outcome;
  Judge(goals, two_parameters()).complete(judged, candidate.x, !goals.objectives.empty());
  evaluator.judged(judged);
  return outcome;
}

void expect_first_parameters(const EvaluatorSpec& spec) {
  const auto evaluator = make_evaluator({two_parameters(), spec});
  for (EvaluationId i = 0; i < 100; ++i) {
    const double x = static_cast<double>(i) / 16;
    const auto outcome = evaluator->evaluate({i, {x, 0}}, 0);
    ASSERT_EQ(outcome.value, x) << "evaluation " << i << ": " << to_string(outcome.status) << ", " << outcome.message;
  }
}

std::string error_of_prepare(const EvaluatorSpec& spec) {
  try {
    make_evaluator({two_parameters(), spec})->prepare();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

std::vector<pid_t> processes_of(const std::string& marker) {
  std::vector<pid_t> found;
  for (const auto& item : std::filesystem::directory_iterator("/proc")) {
    const auto pid = std::atoi(item.path().filename().c_str());
    if (pid > 0 && read_file(item.path() / "environ").find("CULMEN_RUN=" + marker) != std::string::npos)
      found.push_back(pid);
  }
  return found;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string fresh_folder() {
  auto name = ::testing::TempDir() + "culmen-worker-XXXXXX";
  return folders.emplace_back(mkdtemp(name.data()));
}

}  // namespace culmen
