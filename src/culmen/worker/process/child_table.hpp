// The children of a run, in memory that outlives the master: how its guard finds those that have dropped their mark.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace culmen {

/// Shared by all processes of a run: a file in memory of its master, sparse. Thread-safe.
class ChildTable {
 public:
  struct Entry {
    std::atomic<pid_t> child;  ///< leader of a process group; 0: none at the moment
    pid_t session;             ///< that of the child, so that another group of this number is not taken for it
    pid_t owner;               ///< the process that started it
  };
  struct Place;  ///< what lies in shared memory

  /// In the master. Where the system gives no memory, a table that holds nothing.
  static std::shared_ptr<ChildTable> create(const std::string& marker);
  /// The one of the run with that marker(), opened at most once in a process while anybody holds it; null where it
  /// cannot be opened (another user's, another pid namespace, the master is gone).
  static std::shared_ptr<ChildTable> of(const std::string& marker);
  /// The same from a descriptor; null when it is not that table. The caller keeps the descriptor.
  static std::shared_ptr<ChildTable> attach(int fd, const std::string& marker);
  ~ChildTable();
  ChildTable(const ChildTable&) = delete;
  ChildTable& operator=(const ChildTable&) = delete;

  /// The one given to create(), and where the table is.
  const std::string& marker() const { return marker_; }
  /// -1 but in the process that created it.
  int fd() const { return fd_; }
  /// An entry for this process, for ever; null when all 65536 are taken.
  Entry* claim() noexcept;

  struct Listed {
    pid_t child, session, owner;
  };
  /// Children that are there at the moment.
  std::vector<Listed> children() const;

 private:
  ChildTable(std::string marker, int fd, Place* place);
  std::string marker_;
  int fd_;
  Place* place_;
};

/// The entry of something that starts one child at a time. Does nothing where there is no table.
class ChildEntry {
 public:
  /// Before the first child: one in the table of that run. No system call later on.
  void claim(const std::string& marker);
  /// The child, which lives in this process's session; 0 when it was reaped.
  void set(pid_t child) noexcept {
    if (entry_ != nullptr) entry_->child.store(child, std::memory_order_release);
  }

 private:
  bool asked_ = false;
  std::shared_ptr<ChildTable> table_;
  ChildTable::Entry* entry_ = nullptr;
};

}  // namespace culmen
