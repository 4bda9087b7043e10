#include "culmen/store/ownership.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <mutex>
#include <set>
#include <tuple>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"

namespace culmen {
namespace {

/// The studies that this process holds open. A row that names this process but is not among them was left by a journal that was dropped without close().
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

Held::Key key_of(const std::string& path, Epoch epoch) {
  struct stat file {};
  stat(path.c_str(), &file);
  return {file.st_dev, file.st_ino, epoch};
}

}  // namespace

Ownership::Ownership(Database& database)
    : database_(database),
      select_(database, "SELECT host, boot, namespace, pid, ticks, epoch, renewed_s FROM owner"),
      renew_(database, "UPDATE owner SET renewed_s = ?1"),
      remove_(database, "DELETE FROM owner") {}

Ownership::~Ownership() { forget(); }
