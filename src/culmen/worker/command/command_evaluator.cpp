#include "culmen/worker/command/command_evaluator.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/executable.hpp"
#include "culmen/worker/command/command_inputs.hpp"
#include "culmen/worker/command/command_output.hpp"
#include "culmen/worker/core/guarded.hpp"
#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/evaluation_folders.hpp"
#include "culmen/worker/process/modules.hpp"
#include "culmen/worker/process/program_file.hpp"
#include "culmen/worker/process/program_run.hpp"

namespace culmen {
namespace {
constexpr std::size_t descriptors_of_a_command = 7;  // two pipes, pidfd, standard input, a file for the output

/// Looks the program up as a shell would, but relative to `base_folder`. It does so once, not in every evaluation.
std::string find_program(const std::string& name, const std::string& base_folder, const std::string& path) {
  if (name.find('/') != name.npos) {
    const auto file = std::filesystem::absolute(std::filesystem::path(base_folder) / name).lexically_normal().string();
    check_program_file(name, file);
    return file;
  }
  if (auto found = path.empty() ? find_on_path(name) : find_on_path(name, path); !found.empty()) return found;
  std::error_code none;
  const bool beside = std::filesystem::is_regular_file(std::filesystem::path(base_folder) / name, none);
  throw InputError(fmt::format(
      "the command's program '{}' is not on PATH{}", name,
      beside ? fmt::format("; write \"./{}\" for the one beside the study file", name) : hint_at_words(name)));
}

/// A file in memory that is read from its beginning.
class StandardInput {
 public:
  StandardInput() : fd_(memfd_create("culmen-stdin", MFD_CLOEXEC)) {
    if (fd_ < 0)
      throw ResourceError(fmt::format("cannot make a file in memory for a command: {}", std::strerror(errno)));
  }
  ~StandardInput() { close(fd_); }
  StandardInput(const StandardInput&) = delete;
  int fd() const { return fd_; }
  void set(const std::string& text) const {
    const bool done =
        ftruncate(fd_, 0) == 0 && pwrite(fd_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
    if (!done || lseek(fd_, 0, SEEK_SET) != 0)
      throw ResourceError(fmt::format("cannot write the input of a command: {}", std::strerror(errno)));
  }

 private:
  int fd_;
};

class CommandEvaluator final : public Evaluator {
 public:
  explicit CommandEvaluator(const SetUp& set_up)
      : spec_(set_up.evaluator),
        command_(set_up.evaluator.as<CommandSpec>()),
        inputs_(set_up),
        output_(set_up),
        folders_(spec_.working_folder),
        hint_(file_left_behind(spec_)) {
    if (spec_.modules.empty()) find();
    if (command_.json_stdin) input_.emplace();
    request_.environment["CULMEN_RUN"] = spec_.run_marker;
    if (!spec_.base_folder.empty())
      request_.environment["CULMEN_STUDY_FOLDER"] = std::filesystem::absolute(spec_.base_folder).string();
  }

  void prepare() override {
    if (!request_.command.empty()) return;
    for (auto& [name, value] : load_modules(spec_.modules, spec_.run_marker, program_))
      request_.environment[name] = value;
    find();
  }

  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    return guarded([&] {
      prepare();
      return run(candidate, attempt);
    });
  }

  /// Standard error is kept unless output = "none"; standard output is kept for failures and with output = "all".
  void judged(const Outcome& outcome) override {
    if (!std::exchange(has_run_, false)) return;
    const auto& folder = request_.working_folder;
    const auto &errors = program_.errors().text(), &output = program_.output().text();
    const bool failed = !outcome.ok() && !program_.interrupted();
    const bool emptied = command_.keep == Keep::none || (command_.keep == Keep::failures && !failed);
    if (emptied) return folders_.empty(folder);
    const bool output_too = spec_.output == Keep::all || failed;
    if (spec_.output != Keep::none && !errors.empty()) keep_text(folder + "/stderr.txt", errors);
    if (spec_.output != Keep::none && output_too && !output.empty()) keep_text(folder + "/stdout.txt", output);
    folders_.leave(folder);
  }

  void interrupt() noexcept override { program_.interrupt(); }

 private:
  void find() {
    const auto path = request_.environment.find("PATH");
    request_.command = {find_program(command_.command[0], spec_.base_folder,
                                     path != request_.environment.end() ? path->second.value_or("") : std::string())};
    const auto& name = command_.command[0];
    if (name.find('/') == name.npos) request_.called = name;  // mpiexec of Open MPI takes a path as its --prefix
  }

  Outcome run(const Candidate& candidate, Attempt attempt) {
    inputs_.set(candidate, attempt, request_);
    request_.working_folder = folders_.enter(candidate.id);
    if (attempt > 0)
      for (const auto& file : output_.files()) unlink((request_.working_folder + "/" + file).c_str());
    inputs_.place_files(candidate, request_.working_folder);
    if (input_) input_->set(inputs_.as_json(candidate));
    const auto end = program_.run(request_, input_ ? input_->fd() : null_device(), spec_.time_limit_s);
    auto outcome = end == ProgramRun::End::interrupted ? Outcome::failure(Status::failed, "interrupted")
                   : end == ProgramRun::End::too_late
                       ? Outcome::failure(Status::timed_out, describe_time_out(spec_.time_limit_s))
                       : judge();
    if (!outcome.ok()) {
      const auto& errors = program_.errors().text();
      outcome.message = with_tail(std::move(outcome.message), errors.empty() ? program_.output().text() : errors);
    }
    has_run_ = true;
    return outcome;
  }

  Outcome judge() const {
    const int status = program_.status();
    if (WIFSIGNALED(status))
      return Outcome::failure(Status::crashed, fmt::format("the command {}", describe_end(status)));
    if (WEXITSTATUS(status) != 0)
      return Outcome::failure(Status::failed, fmt::format("the command {}{}", describe_end(status),
                                                          hint_.empty() ? hint_ : fmt::format(" ({})", hint_)));
    if (program_.output().overflowed())
      return Outcome::failure(Status::wrong_shape, "the command printed more than 64 MiB");
    return output_.read(program_.output().text(), request_.working_folder);
  }

  EvaluatorSpec spec_;
  CommandSpec command_;
  CommandInputs inputs_;
  CommandOutput output_;
  EvaluationFolders folders_;
  DescriptorRoom room_{descriptors_of_a_command};
  std::string hint_;  // for a command that fails
  SpawnRequest request_;
  std::optional<StandardInput> input_;
  ProgramRun program_;
  bool has_run_ = false;  // since judged()
};
}  // namespace

std::unique_ptr<Evaluator> make_command_evaluator(const SetUp& set_up) {
  return std::make_unique<CommandEvaluator>(set_up);
}

std::string file_left_behind(const EvaluatorSpec& spec) {
  const auto* command = std::get_if<CommandSpec>(&spec.how);
  if (command == nullptr) return {};
  const auto left_behind = [&](const std::string& word) {
    const auto holds_it = [&](const auto& file) { return word == file.name || word.starts_with(file.name + "/"); };
    std::error_code none;
    return !word.empty() && !word.starts_with('/') &&
           std::filesystem::is_regular_file(std::filesystem::path(spec.base_folder) / word, none) &&
           std::ranges::none_of(command->inputs, holds_it) && std::ranges::none_of(command->templates, holds_it);
  };
  const auto& words = command->command;
  if (words.size() < 2 || spec.base_folder.empty()) return {};
  const auto word = std::find_if(words.begin() + 1, words.end(), left_behind);
  if (word == words.end()) return {};
  return fmt::format(
      "it runs in its own folder, which does not contain '{0}'; write inputs = {{ copy = [\"{0}\"] }} to copy it "
      "there, "
      "or \"{{CULMEN_STUDY_FOLDER}}/{0}\" to use it where it is",
      *word);
}

void check_command(const SetUp& set_up) {
  const CommandInputs inputs(set_up);
  const CommandOutput output(set_up);
}

}  // namespace culmen
