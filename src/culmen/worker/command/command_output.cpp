#include "culmen/worker/command/command_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "culmen/base/error.hpp"
#include "culmen/worker/core/evaluator.hpp"
#include "culmen/worker/core/numbers.hpp"
#include "culmen/worker/process/program_run.hpp"

namespace culmen {
namespace {
bool read_extra(std::string_view line, Outcome& outcome) {
  const auto equals = line.find('=');
  if (equals == line.npos) return false;
  const auto name = trim(line.substr(0, equals));
  const auto value = number(trim(line.substr(equals + 1)));
  if (name.empty() || name.find_first_of(blanks) != name.npos || !value) return false;
  outcome.extras.emplace_back(name, *value);
  return true;
}

Outcome wrong(std::string_view word, const char* wanted) {
  return Outcome::failure(Status::wrong_shape,
                          fmt::format("the program printed '{}', but {}", word.substr(0, 80), wanted));
}

/// Adds the numbers of a line. Returns the first word that is not a number.
std::string_view read_residuals(std::string_view line, std::vector<double>& residuals) {
  for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
    const auto value = number(word);
    if (!value) return word;
    residuals.push_back(*value);
  }
  return {};
}

/// Opening a file that is not regular must not block: a program may have made a pipe of that name.
std::string read_file(const std::string& folder, const std::string& name) {
  const int fd = open((folder + "/" + name).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    throw Error(errno == ENOENT ? fmt::format("the program wrote no file '{}'", name)
                                : fmt::format("the file '{}' cannot be read: {}", name, std::strerror(errno)));
  }
  struct stat status {};
  fstat(fd, &status);
  std::string text;
  const bool regular = S_ISREG(status.st_mode);
  const bool small = static_cast<std::size_t>(status.st_size) <= largest_output_bytes;
  if (regular && small) {
    text.resize(static_cast<std::size_t>(status.st_size));
    std::size_t have = 0;
    for (ssize_t n = 1; n > 0 && have < text.size(); have += static_cast<std::size_t>(std::max<ssize_t>(n, 0)))
      n = read(fd, text.data() + have, text.size() - have);
    text.resize(have);
  }
  close(fd);
  if (!regular) throw Error(fmt::format("'{}' is not a regular file", name));
  if (!small) throw Error(fmt::format("the file '{}' is larger than 64 MiB", name));
  return text;
}
}  // namespace

Outcome read_command_output(std::string_view text, ResultKind kind) {
  text = trim(text);
  if (text.empty())
    return Outcome::failure(Status::wrong_shape,
                            "the program printed nothing; it must print a number on its standard output");
  Outcome outcome;
  std::vector<double> residuals;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    const bool last = line.size() == text.size();
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if ((!last || kind != ResultKind::value) && read_extra(line, outcome)) continue;
    if (kind == ResultKind::residuals) {
      if (const auto word = read_residuals(line, residuals); !word.empty())
        return wrong(word, "only residuals (numbers) and lines `name = number` are allowed");
    } else if (last) {
      const auto word = line.substr(line.find_last_of(" \t=") + 1);
      const auto value = number(word);
      if (!value) return wrong(word, "its last word must be the value, a number");
      outcome.value = *value;
    }
  }
  if (kind != ResultKind::residuals) return outcome;
  if (residuals.empty()) return Outcome::failure(Status::wrong_shape, "the program printed no residual");
  auto extras = std::move(outcome.extras);
  outcome = Outcome::of_residuals(std::move(residuals));
  outcome.extras = std::move(extras);
  return outcome;
}

CommandOutput::CommandOutput(const SetUp& set_up) : goals_(set_up.goals), result_(set_up.evaluator.result) {
  const std::string wanted = result_ == ResultKind::residuals ? "residuals" : "value";
  for (const auto& source : set_up.evaluator.as<CommandSpec>().figures) {
    if (source.name == wanted) main_ = readers_.size();
    readers_.emplace_back(source);
    if (!source.file.empty() && std::ranges::find(files_, source.file) == files_.end()) files_.push_back(source.file);
  }
}

Outcome CommandOutput::read(const std::string& printed, const std::string& folder) const {
  try {
    auto outcome = readers_.empty() ? read_command_output(printed, result_) : read_sources(printed, folder);
    if (result_ != ResultKind::figures || !outcome.ok()) return outcome;
    if (!std::isnan(outcome.value)) name_the_value(outcome, goals_);
    outcome.value = 0;
    return outcome;
  } catch (const Error& error) {
    return Outcome::failure(Status::wrong_shape, error.what());
  }
}

Outcome CommandOutput::read_sources(const std::string& printed, const std::string& folder) const {
  std::map<std::string, std::string> texts;
  for (const auto& file : files_) texts[file] = read_file(folder, file);
  const auto text_of = [&](const FigureReader& reader) -> const std::string& {
    return reader.source().file.empty() ? printed : texts[reader.source().file];
  };
  Outcome outcome;
  for (const auto& reader : readers_) {
    const bool is_main = &reader == &readers_[main_];
    if (is_main && result_ == ResultKind::residuals) {
      auto extras = std::move(outcome.extras);
      outcome = Outcome::of_residuals(reader.all(text_of(reader)));
      outcome.extras = std::move(extras);
      continue;
    }
    const double figure = reader.one(text_of(reader));
    const bool is_value = reader.source().name == "value";
    if (is_value || (is_main && result_ == ResultKind::value)) outcome.value = figure;
    if (!is_value) outcome.extras.emplace_back(reader.source().name, figure);
  }
  return outcome;
}

}  // namespace culmen
