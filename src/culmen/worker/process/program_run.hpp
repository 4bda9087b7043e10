// Runs a program to its end and keeps its output.
#pragma once
#include <optional>
#include <string>

#include "culmen/base/clock.hpp"
#include "culmen/base/process.hpp"
#include "culmen/worker/process/child.hpp"

namespace culmen {

inline constexpr std::size_t largest_output_bytes = 64 * 1024 * 1024;  ///< of standard output, and of a file

/// The bytes that a child sends through a pipe, up to a largest size.
class OutputPipe {
 public:
  /// Throws Error where the system gives none.
  explicit OutputPipe(std::size_t largest_bytes);
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  int reader() const { return ended_ ? -1 : ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer();
  /// Takes what is there, at most what a pipe holds (another process may be filling it for ever); beyond the largest
  /// size it is thrown away.
  void drain();
  const std::string& text() const { return text_; }
  bool overflowed() const { return overflowed_; }

 private:
  std::size_t largest_bytes_;
  int ends_[2];
  bool ended_ = false;
  bool overflowed_ = false;
  std::string text_;
};

/// One run at a time. Everything but interrupt() belongs to one thread.
class ProgramRun {
 public:
  enum class End : unsigned char { by_itself, too_late, interrupted };
  /// Starts the program with `standard_input` and waits for its death, or kills it when the limit passes (0: none);
  /// what it leaves in its process group is killed. Sets the request's descriptors. Throws Error where it cannot be
  /// started.
  End run(SpawnRequest& request, int standard_input, double limit_s);
  /// Of the last run: its raw wait status and what it printed.
  int status() const { return status_; }
  const OutputPipe& output() const { return *output_; }
  const OutputPipe& errors() const { return *errors_; }
  /// Any thread: ends the run, and refuses further ones.
  void interrupt() noexcept { child_.interrupt(); }
  bool interrupted() const noexcept { return child_.interrupted(); }

 private:
  bool collect(double limit_s);
  SteadyClock clock_;
  Child child_;
  std::optional<OutputPipe> output_, errors_;
  int status_ = 0;
};

}  // namespace culmen
