#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "store_test.hpp"

namespace {
std::atomic<int> syncs = 0;
}

// In the place of the C library's: SQLite calls these.
extern "C" int fdatasync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  ++syncs;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace culmen {
namespace {
using DurabilityTest = StoreTest;

/// How often the disk is waited for in ten commits.
int syncs_of_ten_commits(Journal journal) {
  journal.append(call(CallKind::resize));
  journal.commit();  // the first one may begin a log
  const int before = syncs;
  for (int i = 0; i < 10; ++i) {
    journal.append(call(CallKind::resize));
    journal.commit();
  }
  return syncs - before;
}

TEST_F(DurabilityTest, each_commit_waits_for_the_disk_where_it_has_to_survive_a_power_failure) {
  EXPECT_GE(syncs_of_ten_commits(make(path, Durability::power)), 10);
  EXPECT_GE(syncs_of_ten_commits(Journal::resume(path, Durability::power)), 10);
}

TEST_F(DurabilityTest, no_commit_waits_for_the_disk_where_it_has_to_survive_a_kill_only) {
  EXPECT_EQ(syncs_of_ten_commits(make(path, Durability::process)), 0);
  EXPECT_EQ(syncs_of_ten_commits(Journal::resume(path, Durability::process)), 0);
}

}  // namespace
}  // namespace culmen
