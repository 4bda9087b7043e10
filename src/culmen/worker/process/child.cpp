#include "culmen/worker/process/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::size_t tail_bytes = 2048;
constexpr std::size_t line_bytes = 300;  // a page with failures shows as many characters of a message
constexpr std::size_t log_bytes = 1024 * 1024;

bool continues_a_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }  // of UTF-8

/// `line`, with an ellipsis in place of its end if it is long.
std::string without_end(std::string_view line) {
  if (line.size() <= line_bytes) return std::string(line);
  auto end = line_bytes;
  while (end > 0 && continues_a_character(line[end])) --end;
  return std::string(line.substr(0, end)) + "…";
}

/// `line`, the end of a longer one, with an ellipsis in place of the rest.
std::string without_begin(std::string_view line) {
  auto begin = line.size() - std::min(line.size(), line_bytes);
  while (begin < line.size() && continues_a_character(line[begin])) ++begin;
  return "…" + std::string(line.substr(begin));
}
}  // namespace

bool Child::start(const SpawnRequest& request) {
  const std::lock_guard lock(mutex_);
  if (interrupted_) return false;
  if (const auto run = request.environment.find("CULMEN_RUN"); run != request.environment.end())
    entry_.claim(run->second.value_or(""));
  pid_ = spawn(request);
  entry_.set(pid_);
  pidfd_ = open_child_pidfd(pid_);
  if (pidfd_ >= 0) return true;
  const int error = errno;
  kill_group(pid_);
  reap(std::exchange(pid_, 0));
  entry_.set(0);
  throw Error(fmt::format("cannot watch '{}', a child process: {}", request.command[0], std::strerror(error)));
}

int Child::end(bool kill) noexcept {
  const std::lock_guard lock(mutex_);
  if (pid_ == 0) return 0;
  if (kill) kill_group(pid_);
  const int status = reap(pid_);
  entry_.set(0);
  close(pidfd_);
  pid_ = 0;
  pidfd_ = -1;
  return status;
}

void Child::interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  kill_group(pid_);
  changed_.notify_all();
}

bool Child::interrupted() const noexcept {
  const std::lock_guard lock(mutex_);
  return interrupted_;
}

void Child::expect_interrupt_after(int wait_status) noexcept {
  // If a signal ended its program, a shell leaves with 128 plus the signal's number.
  const int signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status) - 128;
  if (std::ranges::find(stop_signals, signal) == std::end(stop_signals)) return;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::seconds(1), [this] { return interrupted_; });
}

ChildLog::ChildLog() : fd_(memfd_create("culmen-log", MFD_CLOEXEC)) {
  if (fd_ < 0) throw Error(fmt::format("cannot make a log in memory for a child process: {}", std::strerror(errno)));
  fcntl(fd_, F_SETFL, O_APPEND);  // after a truncation the child then continues at the end
}

ChildLog::~ChildLog() { close(fd_); }

std::size_t ChildLog::size() const noexcept {
  struct stat status {};
  fstat(fd_, &status);
  return static_cast<std::size_t>(status.st_size);
}

void ChildLog::trim() noexcept {
  if (size() - freed_ > log_bytes && ftruncate(fd_, 0) == 0) mark_ = freed_ = 0;
}

void ChildLog::mark() noexcept {
  trim();
  mark_ = size();
}

void ChildLog::mark(std::size_t end) noexcept {
  mark_ = std::min(end, size());
  if (mark_ < freed_) freed_ = 0;  // the child has truncated it
  const auto unused = static_cast<off_t>(mark_);
  if (mark_ - freed_ > log_bytes && fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, unused) == 0)
    freed_ = mark_;
}

std::string ChildLog::tail() const {
  const auto end = size();
  return text(std::max(std::min(mark_, end), end - std::min(end, 2 * tail_bytes)), end);
}

std::string ChildLog::take(std::size_t end) {
  const auto begin = std::exchange(mark_, std::min(end, size()));
  return text(begin, mark_);
}

std::string ChildLog::text(std::size_t begin, std::size_t end) const {
  if (begin >= end) return {};
  std::string text(end - begin, '\0');
  const auto n = pread(fd_, text.data(), text.size(), static_cast<off_t>(begin));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
  return text;
}

bool wait_for(std::span<pollfd> descriptors, double deadline_s) {
  const SteadyClock clock;
  for (;;) {
    timespec left{};
    const bool limited = std::isfinite(deadline_s);
    if (limited) {
      const double left_s = std::clamp(deadline_s - clock.now_s(), 0.0, 1e6);
      left.tv_sec = static_cast<time_t>(left_s);
      left.tv_nsec = static_cast<long>((left_s - std::floor(left_s)) * 1e9);
    }
    const int n = ppoll(descriptors.data(), descriptors.size(), limited ? &left : nullptr, nullptr);
    if (n > 0) return true;
    if (n == 0 && clock.now_s() >= deadline_s) return false;
  }
}

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return fmt::format("ended with exit code {}", WEXITSTATUS(wait_status));
  const char* name = sigabbrev_np(WTERMSIG(wait_status));
  return name != nullptr ? fmt::format("was killed by SIG{}", name)
                         : fmt::format("was killed by signal {}", WTERMSIG(wait_status));
}

std::string with_tail(std::string what, std::string_view log) {
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.remove_suffix(1);
  auto from = log.size() - std::min(log.size(), tail_bytes);
  if (from > 0 && log[from] == '\n') ++from;
  bool whole = from == 0 || log[from - 1] == '\n';
  for (std::size_t end; from < log.size(); from = end + 1, whole = true) {
    end = std::min(log.find('\n', from), log.size());
    const auto line = log.substr(from, end - from);
    what.append("\n").append(whole ? without_end(line) : without_begin(line));
  }
  return what;
}

std::string describe_time_out(double time_limit_s) {
  return fmt::format("the time limit of {} s passed; its processes were killed", time_limit_s);
}

int null_device() {
  static const int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  return fd;
}

}  // namespace culmen
