// A child process that another thread may kill, and what it wrote.
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

/// One child process at a time, leader of its own process group. While it is there it stands in the table of the run
/// that CULMEN_RUN in its environment names. Everything but interrupt() belongs to one thread.
class Child {
 public:
  Child() = default;
  /// Kills the group.
  ~Child() { end(true); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False after interrupt(). Throws Error when the program cannot be started. No child may be there.
  bool start(const SpawnRequest& request);
  bool started() const { return pid_ != 0; }
  /// Readable when the child has died; -1 when there is none.
  int pidfd() const { return pidfd_; }
  /// Waits for the child's death and returns its raw wait status; `kill`: after SIGKILL to its whole group. 0 when
  /// there is none.
  int end(bool kill) noexcept;
  /// Any thread: kills the group of the child, if there is one, and refuses further ones.
  void interrupt() noexcept;
  bool interrupted() const noexcept;
  /// A signal that stops masters may have gone to every process of a job: where `wait_status` says that one of these
  /// ended the child, waits up to a second for interrupt(), so that the study does not record it as a failure.
  void expect_interrupt_after(int wait_status) noexcept;

 private:
  mutable std::mutex mutex_;  // until the child is reaped its id is its own; interrupt() must not see it later
  pid_t pid_ = 0;
  int pidfd_ = -1;
  ChildEntry entry_;
  bool interrupted_ = false;
  std::condition_variable changed_;
};

/// A file in memory for the stdout and stderr of a long-lived child. Bounded: trim() empties it when it has grown over
/// 1 MiB.
class ChildLog {
 public:
  ChildLog();
  ~ChildLog();
  ChildLog(const ChildLog&) = delete;
  ChildLog& operator=(const ChildLog&) = delete;
  int fd() const { return fd_; }
  void trim() noexcept;
  /// What comes from now on is what tail() gives.
  void mark() noexcept;
  /// The last 2 KB since the mark.
  std::string tail() const;
  /// All since the mark, which it moves to the end.
  std::string take();

 private:
  std::size_t size() const noexcept;
  std::string text(std::size_t begin, std::size_t end) const;
  int fd_;
  std::size_t mark_ = 0;
};

/// Sleeps until one of the descriptors has an event; false when `deadline_s` (of SteadyClock; infinity: none) came
/// first.
bool wait_for(std::span<pollfd> descriptors, double deadline_s);
/// "was killed by SIGSEGV" or "left with exit code 3".
std::string describe_end(int wait_status);
/// `what`, and on lines of its own the last 2 KB of `log`, where there is any.
std::string with_tail(std::string what, std::string_view log);
/// For messages: the time limit passed.
std::string describe_time_out(double time_limit_s);
/// An open /dev/null, close-on-exec, for the stdin of children; one for the whole process.
int null_device();

}  // namespace culmen
