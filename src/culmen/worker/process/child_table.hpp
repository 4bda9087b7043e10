// The children of a run, in memory that outlives the master. The run's guard uses it to find children whose environment
// no longer has the run's marker.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace culmen {

/// Shared by all processes of a run: a sparse file in the master's memory. Thread-safe.
class ChildTable {
 public:
  struct Entry {
    std::atomic<pid_t> child;  ///< leader of a process group; 0: none now
    pid_t session;             ///< of the child: distinguishes it from a later group with the same number
    pid_t owner;               ///< the process that started it
  };
  struct Place;  ///< the layout of the shared memory

  /// In the master. If the system gives no memory, the table stays empty.
  static std::shared_ptr<ChildTable> create(const std::string& marker);
  /// The table of the run with that marker(). A process opens it only once while any object holds it. Null if it cannot
  /// be opened: another user's, another pid namespace, or the master is gone.
  static std::shared_ptr<ChildTable> of(const std::string& marker);
  /// The same from a descriptor; null if that is not the table. The caller keeps the descriptor.
  static std::shared_ptr<ChildTable> attach(int fd, const std::string& marker);
  ~ChildTable();
  ChildTable(const ChildTable&) = delete;
  ChildTable& operator=(const ChildTable&) = delete;

  /// The marker given to create(), with the place of the table.
  const std::string& marker() const { return marker_; }
  /// -1 in processes other than the creator.
  int fd() const { return fd_; }
  /// An entry for this process, for ever. Null if all 65536 are in use.
  Entry* claim() noexcept;

  struct Listed {
    pid_t child, session, owner;
  };
  /// The children that live now.
  std::vector<Listed> children() const;

 private:
  ChildTable(std::string marker, int fd, Place* place);
  std::string marker_;
  int fd_;
  Place* place_;
};

/// The entry of an object that starts one child at a time. Does nothing if there is no table.
class ChildEntry {
 public:
  /// Before the first child: takes an entry in that run's table. Later calls of set() need no system call.
  void claim(const std::string& marker);
  /// Sets the child, which must live in this process's session; 0 after it was reaped.
  void set(pid_t child) noexcept {
    if (entry_ != nullptr) entry_->child.store(child, std::memory_order_release);
  }

 private:
  bool asked_ = false;
  std::shared_ptr<ChildTable> table_;
  ChildTable::Entry* entry_ = nullptr;
};

}  // namespace culmen
