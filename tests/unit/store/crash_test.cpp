// The store under kill -9, torn logs, full disks and readers.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>

#include "culmen/base/clock.hpp"
#include "culmen/base/random.hpp"
#include "culmen/store/writer.hpp"
#include "private_mount.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

using CrashTest = StoreTest;

/// Writes the numbered records from `index` on, as fast as it can, and tells the pipe how many are durable.
void write_for_ever(Journal journal, std::uint64_t index, int pipe) {
  const auto start = index;
  std::atomic<Writer*> self = nullptr;
  Writer writer(std::move(journal), [&] {
    const std::uint64_t durable = start + (self ? self.load()->durable() : 0);
    if (write(pipe, &durable, sizeof durable) < 0) _exit(1);
  });
  self = &writer;
  for (;; ++index)
    push_numbered(
        index, [&](const CallRecord& record) { writer.push(record); },
        [&](const OutcomeRecord& record) { writer.push(record); });
}

TEST_F(CrashTest, what_was_reported_durable_survives_kill_9_at_any_moment) {
  constexpr Epoch rounds = 15;
  Random random(3);
  make(path).close();
  std::uint64_t there = 0;
  for (Epoch round = 1; round <= rounds; ++round) {
    ForkedChild child([&](int pipe) { write_for_ever(Journal::resume(path, Durability::process), there, pipe); });
    std::uint64_t durable = there, reported = 0;
    const SteadyClock clock;
    ASSERT_TRUE(child.receive(reported));
    const double end = clock.now_s() + 0.03 * random.uniform();
    do durable = std::max(durable, reported);
    while (clock.now_s() < end && child.receive(reported));
    child.kill();
    while (child.receive(reported)) durable = std::max(durable, reported);

    const auto reader = Journal::read(path);
    there = numbered_prefix(reader);
    EXPECT_GE(there, durable) << "round " << round;
    EXPECT_EQ(reader.epoch(), round + 1);
    EXPECT_FALSE(reader.summary().owned);
    if (HasFailure()) return;
  }
  EXPECT_EQ(Journal::resume(path, Durability::process).epoch(), rounds + 2);
  EXPECT_GT(there, 1000U);
}

TEST_F(CrashTest, a_torn_log_keeps_all_that_came_before_the_tear) {
  auto journal = make(path);
  std::vector<std::uintmax_t> log_bytes;  // after k records
  const auto log = path + "-wal";
  for (std::uint64_t index = 0; index < 60; ++index) {
    log_bytes.push_back(fs::exists(log) ? fs::file_size(log) : 0);
    push_numbered(
        index, [&](const CallRecord& record) { journal.append(record); },
        [&](const OutcomeRecord& record) { journal.append(record); });
    journal.commit();
  }
  log_bytes.push_back(fs::file_size(log));
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const TemporaryFolder copy;
    const auto torn = copy.file("study.db");
    fs::copy_file(path, torn);
    fs::copy_file(log, torn + "-wal");
    const auto bytes = random.below(log_bytes.back() + 1);
    fs::resize_file(torn + "-wal", bytes);
    const auto whole =
        static_cast<std::uint64_t>(std::upper_bound(log_bytes.begin(), log_bytes.end(), bytes) - log_bytes.begin()) - 1;
    EXPECT_EQ(numbered_prefix(Journal::read(torn)), whole) << bytes << " of " << log_bytes.back() << " bytes";
    // The copy's owner is this process, which holds another file.
    auto resumed = Journal::resume(torn, Durability::process);
    push_numbered(
        whole, [&](const CallRecord& record) { resumed.append(record); },
        [&](const OutcomeRecord& record) { resumed.append(record); });
    resumed.close();
    EXPECT_EQ(numbered_prefix(Journal::read(torn)), whole + 1);
    if (HasFailure()) return;
  }
}

/// Reads all that there is; "" or what it throws.
std::string fault_of(const std::string& path) {
  try {
    const auto journal = Journal::read(path);
    journal.summary();
    journal.replay([](const CallRecord&) {});
    journal.outcomes(0, [](const OutcomeRecord&) {});
  } catch (const StoreError& error) {
    return error.what();
  }
  return {};
}

TEST_F(CrashTest, a_damaged_file_is_said_to_be_damaged) {
  constexpr std::uintmax_t page = 4096;
  {
    auto journal = make(path);
    for (std::uint64_t index = 0; index < 3000; ++index)
      push_numbered(
          index, [&](const CallRecord& record) { journal.append(record); },
          [&](const OutcomeRecord& record) { journal.append(record); });
    journal.close();
  }
  const auto bytes = fs::file_size(path);
  const auto copy = folder.file("damaged.db");
  const auto one_sentence = AllOf(HasSubstr(copy + ": "), HasSubstr("damaged"), testing::Not(HasSubstr("\n")));
  fs::copy_file(path, copy);
  fs::resize_file(copy, bytes / 2);
  EXPECT_THAT(fault_of(copy), one_sentence);
  std::uintmax_t noticed = 0;
  for (std::uintmax_t at = page; at < bytes; at += page) {
    fs::copy_file(path, copy, fs::copy_options::overwrite_existing);
    std::fstream(copy).seekp(static_cast<std::streamoff>(at)).write(std::string(page, 0).data(), page);
    const auto fault = fault_of(copy);
    if (fault.empty()) continue;
    ++noticed;
    EXPECT_THAT(fault, one_sentence) << "page " << at / page;
  }
  EXPECT_GT(noticed, bytes / page / 2) << "all but the index of asks and tables that nothing was read from";
}

TEST_F(CrashTest, a_reader_sees_a_growing_consistent_study_while_a_master_writes) {
  make(path).close();
  ForkedChild child([&](int pipe) { write_for_ever(Journal::resume(path, Durability::process), 0, pipe); });
  std::uint64_t before = 0, durable = 0;
  for (int look = 0; look < 20; ++look) {
    ASSERT_TRUE(child.receive(durable));
    const auto reader = Journal::read(path);
    const auto first = reader.summary();
    std::uint64_t outcomes = 0;
    reader.outcomes(0, [&](const OutcomeRecord& record) { outcomes += record.evaluation == outcomes; });
    const auto second = reader.summary();
    EXPECT_TRUE(first.owned);
    EXPECT_GE(first.outcomes, before);
    EXPECT_GE(outcomes, first.outcomes);
    EXPECT_GE(second.outcomes, outcomes);
    EXPECT_GE(second.asked, second.outcomes);
    before = second.outcomes;
  }
  EXPECT_GT(before, 0U);
}

TEST_F(CrashTest, a_full_disk_is_said_and_loses_nothing) {
  PrivateMount disk("none", folder.path(), "tmpfs", 0, "size=2m");
  if (!disk.ok()) GTEST_SKIP() << "mounting is not permitted here";
  std::uint64_t durable = 0;
  {
    std::atomic<int> changes = 0;
    Writer writer(make(path), [&] { ++changes; });
    for (std::uint64_t index = 0; writer.error().empty(); ++index)
      push_numbered(
          index, [&](const CallRecord& record) { writer.push(record); },
          [&](const OutcomeRecord& record) { writer.push(record); });
    EXPECT_THAT(writer.error(), AllOf(HasSubstr(path), HasSubstr("no space left")));
    EXPECT_GT(changes, 0);
    durable = writer.durable();
    const auto ticket = writer.push(ask(0, 1));
    EXPECT_GT(ticket, durable);
    EXPECT_THAT(error_of([&] { writer.close(); }), HasSubstr("no space left"));
    EXPECT_EQ(writer.durable(), durable);
  }
  EXPECT_GT(durable, 0U);
  EXPECT_EQ(numbered_prefix(Journal::read(path)), durable);
  ASSERT_EQ(::mount("none", folder.path().c_str(), nullptr, MS_REMOUNT, "size=8m"), 0);
  auto journal = Journal::resume(path, Durability::process);
  push_numbered(
      durable, [&](const CallRecord& record) { journal.append(record); },
      [&](const OutcomeRecord& record) { journal.append(record); });
  journal.close();
  EXPECT_EQ(numbered_prefix(Journal::read(path)), durable + 1);
}

}  // namespace
}  // namespace culmen
