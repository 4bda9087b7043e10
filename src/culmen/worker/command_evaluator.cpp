#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "culmen/base/clock.hpp"
#include "culmen/base/descriptors.hpp"
#include "culmen/base/error.hpp"
#include "culmen/base/executable.hpp"
#include "culmen/worker/child.hpp"
#include "culmen/worker/command_protocol.hpp"
#include "culmen/worker/evaluation_folders.hpp"
#include "culmen/worker/evaluators.hpp"
#include "culmen/worker/guarded.hpp"

namespace culmen {
namespace {
constexpr std::size_t largest_output = 64 * 1024 * 1024;
constexpr std::size_t descriptors_of_a_command = 6;  // two pipes, pidfd, a file for what was printed

/// A pipe from a child and what has come through it.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC) != 0)
      throw Error(fmt::format("cannot make a pipe for a command: {}", std::strerror(errno)));
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close(ends_[0]);
    close_writer();
  }
  Pipe(const Pipe&) = delete;
  int reader() const { return ended_ ? -1 : ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }
  /// Takes what is there, at most what a pipe holds (another process may be filling it for ever); beyond the largest
  /// output it is thrown away.
  void drain() {
    char buffer[16 * 1024];
    for (int portion = 0; portion < 8; ++portion) {
      const auto n = read(ends_[0], buffer, sizeof buffer);
      if (n <= 0) {
        ended_ = n == 0;
        return;
      }
      overflowed_ = overflowed_ || text_.size() + static_cast<std::size_t>(n) > largest_output;
      if (!overflowed_) text_.append(buffer, static_cast<std::size_t>(n));
    }
  }
  const std::string& text() const { return text_; }
  bool overflowed() const { return overflowed_; }

 private:
  int ends_[2];
  bool ended_ = false;
  bool overflowed_ = false;
  std::string text_;
};

/// As a shell would find it, but relative to `base_folder`; once, so that no evaluation has to.
std::string find_program(const std::string& name, const std::string& base_folder) {
  if (name.find('/') != name.npos) {
    const auto path = std::filesystem::absolute(std::filesystem::path(base_folder) / name).lexically_normal().string();
    if (is_program(path)) return path;
    throw InputError(fmt::format("the command's program '{}' is not an executable file (looked at {})", name, path));
  }
  if (auto path = find_on_path(name); !path.empty()) return path;
  throw InputError(fmt::format("the command's program '{}' is not on PATH", name));
}

/// Only the program is looked for in the study's folder: further words may be anything. Where one that the command
/// could not find there names a file of the study, a failure says so.
std::string hint_at_files(const EvaluatorSpec& spec) {
  for (std::size_t i = 1; i < spec.command.size() && !spec.base_folder.empty(); ++i) {
    const std::filesystem::path word = spec.command[i], file = spec.base_folder / word;
    std::error_code error;
    if (word.is_absolute() || word.empty() || !std::filesystem::is_regular_file(file, error)) continue;
    return fmt::format(
        " (it ran in a folder of its own, where '{}' is not {}; $CULMEN_STUDY_FOLDER names the study's folder)",
        word.string(), file.lexically_normal().string());
  }
  return {};
}

void write_file(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  for (std::string_view left = text; !left.empty();) {
    const auto n = write(fd, left.data(), left.size());
    if (n <= 0) break;
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  close(fd);
}

class CommandEvaluator final : public Evaluator {
 public:
  explicit CommandEvaluator(const SetUp& set_up)
      : spec_(set_up.evaluator),
        goals_(set_up.goals),
        environment_(set_up.space),
        folders_(spec_.working_folder),
        hint_(hint_at_files(spec_)) {
    if (spec_.command.empty() || spec_.command[0].empty())
      throw InputError("the command is empty; give a program and its arguments");
    request_.command = spec_.command;
    request_.command[0] = find_program(spec_.command[0], spec_.base_folder);
    request_.environment["CULMEN_RUN"] = spec_.run_marker;
    if (!spec_.base_folder.empty())
      request_.environment["CULMEN_STUDY_FOLDER"] = std::filesystem::absolute(spec_.base_folder).string();
  }

  Outcome evaluate(const Candidate& candidate, Attempt attempt) override {
    return guarded([&] { return run(candidate, attempt); });
  }

  void interrupt() noexcept override { child_.interrupt(); }

 private:
  Outcome run(const Candidate& candidate, Attempt attempt) {
    Pipe output, errors;
    prepare(candidate, attempt, output, errors);
    if (!child_.start(request_)) return Outcome::failure(Status::failed, "interrupted");
    output.close_writer();
    errors.close_writer();
    const bool in_time = collect(output, errors);
    const int status = child_.end(true);  // also what a command that ended by itself has left behind
    if (in_time) child_.expect_interrupt_after(status);
    auto outcome =
        in_time ? judge(status, output) : Outcome::failure(Status::timed_out, describe_time_out(spec_.time_limit_s));
    if (!outcome.ok())
      outcome.message = with_tail(std::move(outcome.message), errors.text().empty() ? output.text() : errors.text());
    keep(outcome, output, errors);
    return outcome;
  }

  void prepare(const Candidate& candidate, Attempt attempt, const Pipe& output, const Pipe& errors) {
    environment_.set(candidate, request_.environment);
    request_.environment["CULMEN_EVALUATION"] = std::to_string(candidate.id);
    request_.environment["CULMEN_ATTEMPT"] = std::to_string(attempt);
    request_.working_folder = folders_.enter(candidate.id);
    request_.descriptors = {{null_device(), 0}, {output.writer(), 1}, {errors.writer(), 2}};
  }

  /// Reads until the child has died (what it left behind may hold the pipes open for ever); false when the time limit
  /// came first.
  bool collect(Pipe& output, Pipe& errors) {
    const double deadline_s =
        spec_.time_limit_s > 0 ? clock_.now_s() + spec_.time_limit_s : std::numeric_limits<double>::infinity();
    for (bool dead = false; !dead;) {
      pollfd wakers[3] = {{child_.pidfd(), POLLIN, 0}, {output.reader(), POLLIN, 0}, {errors.reader(), POLLIN, 0}};
      const bool in_time = wait_for(wakers, deadline_s);
      dead = wakers[0].revents != 0;
      if (wakers[1].revents != 0) output.drain();
      if (wakers[2].revents != 0) errors.drain();
      if (!in_time) return false;
    }
    return true;
  }

  Outcome judge(int status, const Pipe& output) const {
    if (WIFSIGNALED(status))
      return Outcome::failure(Status::crashed, fmt::format("the command {}", describe_end(status)));
    if (WEXITSTATUS(status) != 0)
      return Outcome::failure(Status::failed, fmt::format("the command {}{}", describe_end(status), hint_));
    if (output.overflowed()) return Outcome::failure(Status::wrong_shape, "the command printed more than 64 MiB");
    auto outcome = read_command_output(output.text(), spec_.result);
    if (spec_.result != ResultKind::figures || !outcome.ok()) return outcome;
    if (!std::isnan(outcome.value)) name_the_value(outcome, goals_);
    outcome.value = 0;
    return outcome;
  }

  void keep(const Outcome& outcome, const Pipe& output, const Pipe& errors) {
    if (!errors.text().empty()) write_file(request_.working_folder + "/stderr.txt", errors.text());
    if (!outcome.ok() && !output.text().empty()) write_file(request_.working_folder + "/stdout.txt", output.text());
    folders_.leave(request_.working_folder);
  }

  EvaluatorSpec spec_;
  Goals goals_;
  CommandEnvironment environment_;
  EvaluationFolders folders_;
  DescriptorRoom room_{descriptors_of_a_command};
  std::string hint_;  // for a command that fails
  SpawnRequest request_;
  SteadyClock clock_;
  Child child_;
};
}  // namespace

std::unique_ptr<Evaluator> make_command_evaluator(const SetUp& set_up) {
  return std::make_unique<CommandEvaluator>(set_up);
}

}  // namespace culmen
