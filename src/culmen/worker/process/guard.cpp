#include "culmen/worker/process/guard.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/child_table.hpp"

namespace culmen {
namespace {
constexpr auto between_rounds =
    std::chrono::milliseconds(20);  // a child between vfork and exec still shows its parent's environment
constexpr int quiet_rounds = 2;
constexpr int table_descriptor = 3;    // in the guard
constexpr int without_pidfd_ms = 200;  // used if the system gives no descriptor

std::string read_all(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(fd, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(fd);
  return text;
}

/// The environment with which a child started, with a zero byte before and after each entry.
bool is_marked(pid_t pid, const std::string& entry) {
  struct stat status {};
  const auto folder = fmt::format("/proc/{}", pid);
  if (stat(folder.c_str(), &status) != 0 || status.st_uid != geteuid()) return false;
  return ('\0' + read_all(folder + "/environ")).find(entry) != std::string::npos;
}

template <class Visit>
void for_each_process(Visit&& visit) {
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return;
  while (const dirent* item = readdir(folder)) {
    pid_t pid = 0;
    const char* end = item->d_name + std::strlen(item->d_name);
    if (std::from_chars(item->d_name, end, pid).ptr == end && pid != getpid()) visit(pid);
  }
  closedir(folder);
}

std::set<pid_t> find_marked(const std::string& marker) {
  std::set<pid_t> found;
  const auto entry = '\0' + fmt::format("CULMEN_RUN={}", marker) + '\0';
  for_each_process([&](pid_t pid) {
    if (is_marked(pid, entry)) found.insert(pid);
  });
  return found;
}

/// The groups that the table's children lead and that still have a process: a child may end before its own children.
/// `owner`: only those of this process; 0: all.
std::set<pid_t> find_listed(const ChildTable* table, pid_t owner) {
  std::set<std::pair<pid_t, pid_t>> listed;  // group, session
  std::set<pid_t> found;
  if (table == nullptr) return found;
  for (const auto& entry : table->children()) {
    if (owner == 0 || entry.owner == owner) listed.emplace(entry.child, entry.session);
  }
  if (listed.empty()) return found;
  for_each_process([&](pid_t pid) {
    const pid_t group = getpgid(pid);
    if (listed.contains({group, getsid(pid)}) && alive(identify(pid))) found.insert(group);
  });
  return found;
}

/// Kills the process. Also kills its group, unless a process that is not ours leads it.
void kill_with_group(pid_t pid, const std::set<pid_t>& marked) {
  const pid_t group = getpgid(pid);
  if (group > 1 && group != getpgrp() && (marked.contains(group) || kill(group, 0) != 0)) kill_group(group);
  kill(pid, SIGKILL);
}

/// False if `let_go` (an eventfd, or -1) came first.
bool sleep_until_dead(const ProcessId& process, int let_go = -1) {
  pollfd either[] = {{open_pidfd(process), POLLIN, 0}, {let_go, POLLIN, 0}};
  const int slice_ms = either[0].fd >= 0 ? -1 : without_pidfd_ms;
  while (alive(process) && either[1].revents == 0) poll(either, 2, slice_ms);
  if (either[0].fd >= 0) close(either[0].fd);
  return either[1].revents == 0;
}
}  // namespace

std::string make_run_marker() {
  std::uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  const auto self = this_process();
  return fmt::format("{}-{}-{:016x}", self.pid, self.start_ticks, number);
}

pid_t start_guard(const ProcessId& master, const std::string& marker) {
  SpawnRequest request;
  request.command = {find_executable(), "__guard", std::to_string(master.pid), std::to_string(master.start_ticks),
                     marker};
  request.environment["CULMEN_RUN"] =
      "";  // a run inside another run's evaluation: the other run's guard must not kill this guard
  request.descriptors = {{null_device(), 0}, {null_device(), 1}, {null_device(), 2}};
  const auto children = ChildTable::of(marker);
  if (children && children->fd() >= 0) request.descriptors.emplace_back(children->fd(), table_descriptor);
  request.new_session = true;
  return spawn(request);
}

int guard_main(const ProcessId& master, const std::string& marker) {
  for (const int stop : stop_signals) signal(stop, SIG_IGN);
  const auto children = ChildTable::attach(table_descriptor, marker);
  sleep_until_dead(master);
  for (int quiet = 0; quiet < quiet_rounds; std::this_thread::sleep_for(between_rounds)) {
    const auto marked = find_marked(marker);
    for (const pid_t pid : marked) kill_with_group(pid, marked);
    const auto listed = find_listed(children.get(), 0);
    for (const pid_t group : listed) kill_group(group);
    quiet = marked.empty() && listed.empty() ? quiet + 1 : 0;
  }
  return 0;
}

Lifeline::Lifeline(const ProcessId& master, const std::string& marker) : let_go_(eventfd(0, EFD_CLOEXEC)) {
  if (let_go_ < 0) throw Error(fmt::format("a worker cannot watch its master: {}", std::strerror(errno)));
  thread_ = std::thread([this, master, marker, children = ChildTable::of(marker)] {
    if (!sleep_until_dead(master, let_go_)) return;
    for (const pid_t group : find_listed(children.get(), getpid())) kill_group(group);
    const auto marked = find_marked(marker);
    for (const pid_t pid : marked) {
      if (parent_of(pid) == getpid()) kill_with_group(pid, marked);
    }
    _exit(1);
  });
}

Lifeline::~Lifeline() {
  eventfd_write(let_go_, 1);
  thread_.join();
  close(let_go_);
}

}  // namespace culmen
