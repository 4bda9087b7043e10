#include "culmen/worker/process/child_table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <thread>

#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/guard.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
using ::testing::IsEmpty;
using ::testing::SizeIs;

SpawnRequest sleeper(const std::string& marker) {
  SpawnRequest request;
  request.command = {"sleep", "3600"};
  request.environment["CULMEN_RUN"] = marker;
  return request;
}

TEST(ChildTable, holds_a_child_from_its_start_to_its_end) {
  const auto table = ChildTable::create(make_run_marker());
  Child child;
  ASSERT_TRUE(child.start(sleeper(table->marker())));
  const auto there = table->children();
  ASSERT_THAT(there, SizeIs(1));
  EXPECT_EQ(parent_of(there[0].child), getpid());
  EXPECT_EQ(there[0].session, getsid(0));
  EXPECT_EQ(there[0].owner, getpid());
  child.end(true);
  EXPECT_THAT(table->children(), IsEmpty());
}

TEST(ChildTable, gives_whatever_starts_children_one_entry_for_its_life) {
  const auto table = ChildTable::create(make_run_marker());
  Child child;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(child.start(sleeper(table->marker())));
    EXPECT_THAT(table->children(), SizeIs(1));
    child.end(true);
  }
  EXPECT_EQ(table->claim() - table->claim(), -1);
}

TEST(ChildTable, is_opened_by_other_processes_of_the_run) {
  const auto table = ChildTable::create(make_run_marker());
  EXPECT_EQ(ChildTable::of(table->marker()), table);
  const auto other = ChildTable::attach(table->fd(), table->marker());  // as another process would map it
  ASSERT_TRUE(other);
  other->claim()->child = 4711;
  ASSERT_THAT(table->children(), SizeIs(1));
  EXPECT_EQ(table->children()[0].child, 4711);
}

TEST(ChildTable, of_another_run_or_of_none_is_not_taken) {
  const auto table = ChildTable::create(make_run_marker());
  EXPECT_FALSE(ChildTable::attach(table->fd(), make_run_marker()));
  EXPECT_FALSE(ChildTable::of(make_run_marker()));
  EXPECT_FALSE(ChildTable::of(fmt::format("{}-{}", make_run_marker(), table->fd())));
  EXPECT_FALSE(ChildTable::of(fmt::format("{}-{}", make_run_marker(), 999999)));
  EXPECT_FALSE(ChildTable::attach(null_device(), table->marker()));
  const int foreign = memfd_create("another", MFD_CLOEXEC);
  EXPECT_FALSE(ChildTable::attach(foreign, table->marker()));
  close(foreign);
}

TEST(ChildTable, that_is_full_lists_nobody_further) {
  const auto table = ChildTable::create(make_run_marker());
  for (int i = 0; i < 65536; ++i) ASSERT_NE(table->claim(), nullptr) << i;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(table->claim(), nullptr);
  Child child;
  EXPECT_TRUE(child.start(sleeper(table->marker())));
  EXPECT_THAT(table->children(), IsEmpty());
}

TEST(ChildTable, gives_each_thread_an_entry_of_its_own) {
  const auto table = ChildTable::create(make_run_marker());
  std::set<ChildTable::Entry*> entries;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto* entry = table->claim();
        const std::lock_guard lock(mutex);
        entries.insert(entry);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_THAT(entries, SizeIs(400));
}

}  // namespace
}  // namespace culmen
