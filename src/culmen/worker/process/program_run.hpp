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
  /// Throws Error if the system gives no pipe.
  explicit OutputPipe(std::size_t largest_bytes);
  ~OutputPipe();
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  int reader() const { return ended_ ? -1 : ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer();
  /// Reads the available bytes, at most as many as a pipe holds, because another process may fill it for ever. Bytes
  /// beyond the largest size are dropped.
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

/// One run at a time. All functions but interrupt() belong to one thread.
class ProgramRun {
 public:
  enum class End : unsigned char { by_itself, too_late, interrupted };
  /// Starts the program with `standard_input` and waits for its death. Kills it after `limit_s` (0: no limit).
  /// Processes that it leaves in its process group are killed. Sets the request's descriptors. Throws Error if the
  /// program cannot be started.
  End run(SpawnRequest& request, int standard_input, double limit_s);
  /// The raw wait status of the last run, and its output.
  int status() const { return status_; }
  const OutputPipe& output() const { return *output_; }
  const OutputPipe& errors() const { return *errors_; }
  /// Ends the run and refuses further ones. Any thread.
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
