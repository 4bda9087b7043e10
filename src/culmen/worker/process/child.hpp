// A child process that another thread may kill, and its output.
#pragma once
#include <poll.h>

#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "culmen/base/process.hpp"
#include "culmen/worker/process/child_table.hpp"

namespace culmen {

/// One child process at a time, leader of its own process group. While it lives, it has an entry in the run's table.
/// CULMEN_RUN in its environment names the run. All functions but interrupt() belong to one thread.
class Child {
 public:
  Child() = default;
  /// Kills the group.
  ~Child() { end(true); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False after interrupt(). Throws Error if the program cannot be started. There must be no child yet.
  bool start(const SpawnRequest& request);
  bool started() const { return pid_ != 0; }
  /// Readable when the child has died; -1 if there is none.
  int pidfd() const { return pidfd_; }
  /// Waits for the child's death and returns its raw wait status; 0 if there is no child. `kill`: first sends SIGKILL
  /// to its whole group.
  int end(bool kill) noexcept;
  /// Kills the child's group if there is one, and refuses further children. Any thread.
  void interrupt() noexcept;
  bool interrupted() const noexcept;
  /// A signal that stops masters may have reached every process of a job. If `wait_status` shows that such a signal
  /// ended the child, waits up to a second for interrupt(). The study then does not record a failure.
  void expect_interrupt_after(int wait_status) noexcept;

 private:
  mutable std::mutex mutex_;  // until the child is reaped its id is its own; interrupt() must not see it later
  pid_t pid_ = 0;
  int pidfd_ = -1;
  ChildEntry entry_;
  bool interrupted_ = false;
  std::condition_variable changed_;
};

/// A file in memory for the stdout and stderr of a long-lived child. Its size is bounded: trim() empties it if it has
/// more than 1 MiB.
class ChildLog {
 public:
  ChildLog();
  ~ChildLog();
  ChildLog(const ChildLog&) = delete;
  ChildLog& operator=(const ChildLog&) = delete;
  int fd() const { return fd_; }
  void trim() noexcept;
  /// From now on tail() and take() return only output that comes after this.
  void mark() noexcept;
  /// The same for output after the first `end` bytes. Frees the memory of the output before.
  void mark(std::size_t end) noexcept;
  /// The last 4 KB after the mark: more than with_tail() quotes, so that it sees whether its first line is whole.
  std::string tail() const;
  /// The output after the mark, up to the first `end` bytes of the log. Moves the mark behind it.
  std::string take(std::size_t end);

 private:
  std::size_t size() const noexcept;
  std::string text(std::size_t begin, std::size_t end) const;
  int fd_;
  std::size_t mark_ = 0;
  std::size_t freed_ = 0;
};

/// Sleeps until one of the descriptors has an event. False if `deadline_s` (of SteadyClock; infinity: none) came first.
bool wait_for(std::span<pollfd> descriptors, double deadline_s);
/// "was killed by SIGSEGV" or "ended with exit code 3".
std::string describe_end(int wait_status);
/// `what`, followed by the last lines of `log` if there is any output: at most 2 KB, and of a long line only a part.
std::string with_tail(std::string what, std::string_view log);
/// A message that the time limit has passed.
std::string describe_time_out(double time_limit_s);
/// An open /dev/null, close-on-exec, for the stdin of children; one for the whole process.
int null_device();

}  // namespace culmen
