#include "culmen/worker/process/child_table.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

namespace culmen {

struct ChildTable::Place {
  static constexpr std::uint32_t capacity = 65536;
  char marker[128];  // of its run, up to the first zero byte
  std::atomic<std::uint32_t> claimed;
  Entry entries[capacity];
};

namespace {
static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

std::mutex known_mutex;
std::map<std::string, std::weak_ptr<ChildTable>> known;  // of this process

std::shared_ptr<ChildTable> remember(std::shared_ptr<ChildTable> table) {
  std::erase_if(known, [](const auto& item) { return item.second.expired(); });
  if (table) known[table->marker()] = table;
  return table;
}

ChildTable::Place* map_place(int fd) {
  void* memory = mmap(nullptr, sizeof(ChildTable::Place), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<ChildTable::Place*>(memory);
}

/// PID-START-NUMBER-FD -> /proc/PID/fd/FD; empty for a marker without a table.
std::string path_of(const std::string& marker) {
  if (std::ranges::count(marker, '-') != 3) return {};
  return fmt::format("/proc/{}/fd/{}", marker.substr(0, marker.find('-')), marker.substr(marker.rfind('-') + 1));
}
}  // namespace

ChildTable::ChildTable(std::string marker, int fd, Place* place) : marker_(std::move(marker)), fd_(fd), place_(place) {}

ChildTable::~ChildTable() {
  if (place_ != nullptr) munmap(place_, sizeof(Place));
  if (fd_ >= 0) close(fd_);
}

std::shared_ptr<ChildTable> ChildTable::create(const std::string& marker) {
  int fd = memfd_create("culmen-children", MFD_CLOEXEC);
  Place* place = fd >= 0 && ftruncate(fd, sizeof(Place)) == 0 ? map_place(fd) : nullptr;
  auto located = fmt::format("{}-{}", marker, fd);
  if (place == nullptr || located.size() >= sizeof place->marker) {
    if (place != nullptr) munmap(place, sizeof(Place));
    if (fd >= 0) close(fd);
    return std::shared_ptr<ChildTable>(new ChildTable(marker, -1, nullptr));
  }
  std::memcpy(place->marker, located.data(), located.size());
  const std::lock_guard lock(known_mutex);
  return remember(std::shared_ptr<ChildTable>(new ChildTable(std::move(located), fd, place)));
}

std::shared_ptr<ChildTable> ChildTable::of(const std::string& marker) {
  const auto path = path_of(marker);
  if (path.empty()) return nullptr;
  const std::lock_guard lock(known_mutex);
  if (const auto found = known.find(marker); found != known.end()) {
    if (auto table = found->second.lock()) return table;
  }
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return nullptr;
  auto table = attach(fd, marker);
  close(fd);
  return remember(std::move(table));
}

std::shared_ptr<ChildTable> ChildTable::attach(int fd, const std::string& marker) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != sizeof(Place)) return nullptr;
  Place* place = map_place(fd);
  if (place == nullptr) return nullptr;
  std::shared_ptr<ChildTable> table(new ChildTable(marker, -1, place));
  const std::string whose(place->marker, strnlen(place->marker, sizeof place->marker));
  return whose == marker ? table : nullptr;
}

ChildTable::Entry* ChildTable::claim() noexcept {
  if (place_ == nullptr || place_->claimed.load() >= Place::capacity) return nullptr;
  const auto mine = place_->claimed.fetch_add(1);
  if (mine >= Place::capacity) return nullptr;
  auto& entry = place_->entries[mine];
  entry.session = getsid(0);
  entry.owner = getpid();
  return &entry;
}

std::vector<ChildTable::Listed> ChildTable::children() const {
  std::vector<Listed> found;
  if (place_ == nullptr) return found;
  const auto end = std::min(place_->claimed.load(), Place::capacity);
  for (std::uint32_t i = 0; i < end; ++i) {
    const auto& entry = place_->entries[i];
    const pid_t child = entry.child.load(std::memory_order_acquire);
    if (child > 1) found.push_back({child, entry.session, entry.owner});
  }
  return found;
}

void ChildEntry::claim(const std::string& marker) {
  if (asked_) return;
  asked_ = true;
  table_ = ChildTable::of(marker);
  if (table_) entry_ = table_->claim();
}

}  // namespace culmen
