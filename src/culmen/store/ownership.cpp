#include "culmen/store/ownership.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {

/// The studies that this process holds. A row of this process that is not among them was left by a journal that was
/// destroyed without close().
class Held {
 public:
  using Key = std::tuple<dev_t, ino_t, Epoch>;
  void add(const Key& key) {
    std::lock_guard lock(mutex_);
    keys_.insert(key);
  }
  void remove(const Key& key) {
    std::lock_guard lock(mutex_);
    if (const auto it = keys_.find(key); it != keys_.end()) keys_.erase(it);
  }
  bool has(const Key& key) {
    std::lock_guard lock(mutex_);
    return keys_.contains(key);
  }

 private:
  std::mutex mutex_;
  std::multiset<Key> keys_;
};

Held held_here;

}  // namespace

Ownership::Ownership(Database& database)
    : database_(database),
      place_(std::filesystem::absolute(database.path()).string()),
      select_(database, "SELECT host, boot, namespace, pid, ticks, epoch, renewed_s FROM owner"),
      renew_(database, "UPDATE owner SET renewed_s = ?1"),
      remove_(database, "DELETE FROM owner") {
  struct stat file {};
  if (stat(database.path().c_str(), &file) == 0) {
    device_ = file.st_dev;
    file_ = file.st_ino;
  }
}

Ownership::~Ownership() { forget(); }

std::optional<Owner> Ownership::row() {
  auto rows = select_.rows();
  if (!rows.next()) return {};
  Owner owner;
  owner.host = rows.text(0);
  owner.boot = rows.text(1);
  owner.process_namespace = rows.text(2);
  owner.process = {static_cast<pid_t>(rows.integer(3)), static_cast<std::uint64_t>(rows.integer(4))};
  owner.epoch = static_cast<Epoch>(rows.integer(5));
  owner.renewed_s = rows.real(6);
  return owner;
}

std::optional<Owner> Ownership::live() {
  auto owner = row();
  if (!owner) return {};
  const auto self = this_owner();
  const bool ours =
      owner->process == self.process && owner->boot == self.boot && owner->process_namespace == self.process_namespace;
  const bool lives = ours ? held_here.has(key(owner->epoch)) : judge(*owner, self) != Vitality::dead;
  return lives ? owner : std::nullopt;
}

void Ownership::refuse_if_held() {
  const auto owner = live();
  if (!owner) return;
  auto sentence =
      fmt::format("{}: belongs to a running master ({}); stop that one first", database_.path(), owner->name());
  if (judge(*owner, this_owner()) == Vitality::silent)
    sentence += fmt::format(", or wait: its last sign of life was {:.0f} s ago, and it counts as dead after {:.0f} s",
                            wall_clock_s() - owner->renewed_s, owner_silence_s);
  throw StoreError(sentence);
}

Epoch Ownership::take(const std::string& build) {
  refuse_if_held();
  const auto self = this_owner();
  Statement start(database_, "INSERT INTO epochs(started_s, host, pid, build) VALUES (?1, ?2, ?3, ?4) RETURNING epoch");
  Epoch epoch = 0;
  {
    auto rows = start.rows(self.renewed_s, self.host, self.process.pid, build);
    while (rows.next()) epoch = static_cast<Epoch>(rows.integer(0));
  }
  remove_.run();
  Statement insert(database_, "INSERT INTO owner VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
  insert.run(self.host, self.boot, self.process_namespace, self.process.pid, self.process.start_ticks, epoch,
             self.renewed_s);
  epoch_ = epoch;
  held_here.add(key(epoch_));
  return epoch_;
}

void Ownership::check() {
  if (epoch_ == 0)
    throw StoreError(
        fmt::format("{}: cannot be written, because it was opened for reading or is closed already", database_.path()));
  const auto owner = row();
  if (owner && owner->epoch == epoch_) return;
  throw StoreError(fmt::format("{}: this master (epoch {}) has lost the study to another one{}; it stops writing",
                               database_.path(), epoch_,
                               owner ? fmt::format(" ({}, epoch {})", owner->name(), owner->epoch) : ""));
}

bool Ownership::has_moved() const {
  struct stat file {};
  return stat(place_.c_str(), &file) != 0 || file.st_dev != device_ || file.st_ino != file_ || log_has_gone();
}

bool Ownership::log_has_gone() const {
  struct stat log {};
  return log_ != 0 && (stat((place_ + "-wal").c_str(), &log) != 0 || log.st_ino != log_);
}

void Ownership::watch_file() {
  struct stat log {};
  if (stat((place_ + "-wal").c_str(), &log) == 0) log_ = log.st_ino;
  if (!database_.checkpoint(SQLITE_CHECKPOINT_PASSIVE)) return;  // a reader keeps an older description in the file
  Statement root(database_, "SELECT rootpage FROM sqlite_schema WHERE name = 'description'");
  auto rows = root.rows();
  if (!rows.next()) return;  // an old store
  description_page_ = rows.integer(0);
  description_ = database_.page_in_file(description_page_);
}

bool Ownership::is_overwritten() {
  return description_page_ != 0 && database_.page_in_file(description_page_) != description_;
}

std::string Ownership::fate() const {
  namespace fs = std::filesystem;
  std::error_code none;
  if (log_has_gone() && fs::exists(place_, none)) return fmt::format("lost its log {}-wal", place_);
  for (const auto& open : fs::directory_iterator("/proc/self/fd", none)) {
    struct stat file {};
    if (stat(open.path().c_str(), &file) != 0 || file.st_dev != device_ || file.st_ino != file_) continue;
    const auto now = fs::read_symlink(open.path(), none).string();
    if (file.st_nlink == 0) return fs::exists(place_, none) ? "was replaced by another file" : "was deleted";
    if (!now.empty()) return "was moved to " + now;
  }
  return "was deleted, moved or replaced";
}

void Ownership::renew() { renew_.run(wall_clock_s()); }

void Ownership::give_up() {
  remove_.run();
  forget();
}

void Ownership::forget() {
  if (epoch_ != 0) held_here.remove(key(epoch_));
  epoch_ = 0;
}

}  // namespace culmen
