#include "culmen/store/writer.hpp"

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "culmen/base/clock.hpp"
#include "culmen/store/checkpointer.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
using namespace std::chrono_literals;
using testing::HasSubstr;

using WriterTest = StoreTest;

/// Another process's lock on the file, as far as SQLite can tell.
class Lock {
 public:
  explicit Lock(const std::string& path) {
    sqlite3_open(path.c_str(), &database_);
    EXPECT_EQ(sqlite3_exec(database_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  }
  ~Lock() { sqlite3_close(database_); }
  Lock(const Lock&) = delete;

 private:
  sqlite3* database_ = nullptr;
};

TEST_F(WriterTest, tickets_become_durable_in_order_and_each_commit_is_reported) {
  std::atomic<std::uint64_t> seen = 0;
  std::atomic<Writer*> self = nullptr;
  Writer writer(make(path), [&] {
    if (self) seen = self.load()->durable();
  });
  self = &writer;
  for (std::uint64_t index = 0; index < 5000; ++index)
    push_numbered(
        index, [&](const CallRecord& record) { EXPECT_EQ(writer.push(record), index + 1); },
        [&](const OutcomeRecord& record) { EXPECT_EQ(writer.push(record), index + 1); });
  EXPECT_TRUE(eventually([&] { return seen == 5000; })) << "the last report was of " << seen;
  EXPECT_EQ(writer.error(), "");
  EXPECT_EQ(numbered_prefix(Journal::read(path)), 5000U);
  writer.close();
  EXPECT_FALSE(Journal::read(path).summary().owned);
}

TEST_F(WriterTest, one_row_alone_is_committed_at_once) {
  Writer writer(make(path), [] {});
  for (std::uint64_t k = 1; k <= 20; ++k) {
    EXPECT_EQ(writer.push(outcome(k, 1)), k);
    ASSERT_TRUE(eventually([&] { return writer.durable() == k; })) << writer.durable();
    EXPECT_EQ(Journal::read(path).summary().outcomes, k);
  }
}

TEST_F(WriterTest, close_writes_all_that_was_pushed) {
  Writer writer(make(path), [] {});
  for (std::uint64_t index = 0; index < 30'000; ++index)
    push_numbered(
        index, [&](const CallRecord& record) { writer.push(record); },
        [&](const OutcomeRecord& record) { writer.push(record); });
  writer.close();
  EXPECT_EQ(writer.durable(), 30'000U);
  EXPECT_EQ(numbered_prefix(Journal::read(path)), 30'000U);
}

TEST_F(WriterTest, the_destructor_writes_all_that_was_pushed) {
  {
    Writer writer(make(path), [] {});
    for (EvaluationId id = 0; id < 3000; ++id) writer.push(outcome(id, 1));
  }
  EXPECT_EQ(Journal::read(path).summary().outcomes, 3000U);
  EXPECT_EQ(Journal::resume(path, Durability::process).epoch(), 2U);
}

TEST_F(WriterTest, push_waits_when_the_disk_is_a_hundred_thousand_rows_behind) {
  Writer writer(make(path), [] {});
  auto lock = std::make_unique<Lock>(path);
  std::atomic<std::uint64_t> pushed = 0;
  std::jthread pusher([&] {
    for (EvaluationId id = 0; id < 120'000; ++id) pushed = writer.push(outcome(id, 1));
  });
  EXPECT_TRUE(eventually([&] { return pushed == 100'000; })) << pushed;
  const SteadyClock clock;
  for (const double end = clock.now_s() + 0.05; clock.now_s() < end;) ASSERT_EQ(pushed, 100'000U);
  lock.reset();
  EXPECT_TRUE(eventually([&] { return writer.durable() == 120'000; })) << writer.durable() << writer.error();
}

TEST_F(WriterTest, a_lost_study_ends_the_writing_and_frees_the_pusher) {
  std::atomic<int> reports = 0;
  Writer writer(make(path), [&] { ++reports; });
  sql(path, "UPDATE owner SET epoch = 7");
  for (EvaluationId id = 0; id < 150'000; ++id) writer.push(outcome(id, 1));
  EXPECT_TRUE(eventually([&] { return !writer.error().empty(); }));
  EXPECT_THAT(writer.error(), HasSubstr("has lost the study"));
  EXPECT_TRUE(eventually([&] { return reports == 1; })) << reports;
  EXPECT_EQ(writer.durable(), 0U);
  EXPECT_THAT(error_of([&] { writer.close(); }), HasSubstr("has lost the study"));
  EXPECT_EQ(Journal::read(path).summary().outcomes, 0U);
}

TEST_F(WriterTest, an_idle_writer_renews_the_ownership) {
  Writer writer(
      make(path), [] {}, 20ms);
  sql(path, "UPDATE owner SET host = 'node7', boot = 'another', renewed_s = 1");
  EXPECT_TRUE(eventually([&] { return Journal::read(path).summary().owned; }));
}

/// Calls `look` on each COMMIT of any connection made meanwhile, just before it takes place; `look` may refuse it.
class CommitHook {
 public:
  explicit CommitHook(std::function<bool()> look) {
    look_ = std::move(look);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(install));
  }
  ~CommitHook() { sqlite3_reset_auto_extension(); }
  CommitHook(const CommitHook&) = delete;

 private:
  static int install(sqlite3* database, const char**, const void*) {
    sqlite3_commit_hook(
        database, [](void*) { return look_() ? 0 : 1; }, nullptr);
    return SQLITE_OK;
  }
  static inline std::function<bool()> look_;
};

TEST_F(WriterTest, nothing_is_reported_durable_before_its_commit) {
  constexpr std::uint64_t rows = 20'000;
  std::atomic<Writer*> self = nullptr;
  std::optional<Journal> reader;
  std::atomic<int> looks = 0;
  CommitHook hook([&] {
    if (!self) return true;
    const auto durable = self.load()->durable(), visible = reader->summary().outcomes;
    EXPECT_LE(durable, visible) << "reported durable, but another connection does not see it";
    ++looks;
    return true;
  });
  Writer writer(make(path), [&] {
    if (!self) return;
    const auto durable = self.load()->durable(), visible = reader->summary().outcomes;
    EXPECT_EQ(durable, visible) << "after a commit";
  });
  reader.emplace(Journal::read(path));
  self = &writer;
  for (EvaluationId id = 0; id < rows; ++id) writer.push(outcome(id, 1));
  EXPECT_TRUE(eventually([&] { return writer.durable() == rows; })) << writer.durable() << writer.error();
  EXPECT_GE(looks, 20);
  writer.close();
  self = nullptr;
}

TEST_F(WriterTest, a_commit_that_fails_is_not_reported_durable) {
  std::atomic<int> left = -1;
  CommitHook hook([&] { return left < 0 || left-- > 0; });
  Writer writer(make(path), [] {});
  left = 3;
  for (EvaluationId id = 0; id < 50'000 && writer.error().empty(); ++id) writer.push(outcome(id, 1));
  EXPECT_TRUE(eventually([&] { return !writer.error().empty(); }));
  left = -1;
  EXPECT_EQ(writer.durable(), Journal::read(path).summary().outcomes);
  EXPECT_LE(writer.durable(), 3000U);
}

TEST_F(WriterTest, the_log_stays_bounded_and_a_close_leaves_one_file) {
  constexpr std::uint64_t most = 4096 * 2 * Checkpointer::most_pages + (8 << 20);
  const auto log = path + "-wal";
  std::atomic<std::uint64_t> largest = 0;
  std::optional<Writer> writer;
  writer.emplace(make(path), [&] {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(log, none);
    if (!none && bytes > largest) largest = bytes;
  });
  auto record = outcome(0, 1);
  record.outcome.residuals.assign(1000, 1);
  for (EvaluationId id = 0; id < 20'000; ++id) {
    record.evaluation = id;
    writer->push(record);
  }
  writer->close();
  writer.reset();
  EXPECT_GT(std::filesystem::file_size(path), 2 * most) << "enough has been written";
  EXPECT_GT(largest, std::uint64_t{4096} * Checkpointer::round_pages) << "the log was not left to the checkpointer";
  EXPECT_LT(largest, most);
  EXPECT_FALSE(std::filesystem::exists(log));
  EXPECT_FALSE(std::filesystem::exists(path + "-shm"));
  EXPECT_EQ(Journal::read(path).summary().outcomes, 20'000U);
}

TEST_F(WriterTest, a_reader_that_holds_the_log_holds_up_nothing) {
  Writer writer(make(path), [] {});
  writer.push(outcome(0, 1));
  ASSERT_TRUE(eventually([&] { return writer.durable() == 1; }));
  const auto reader = Journal::read(path);
  auto record = outcome(0, 1);
  record.outcome.residuals.assign(1000, 1);
  std::uint64_t seen = 0;
  reader.outcomes(0, [&](const OutcomeRecord&) {
    ++seen;
    for (EvaluationId id = 1; id <= 15'000; ++id) {
      record.evaluation = id;
      writer.push(record);
    }
    EXPECT_TRUE(eventually([&] { return writer.durable() == 15'001; })) << writer.durable() << writer.error();
  });
  EXPECT_EQ(seen, 1U) << "it keeps the view of its beginning";
  writer.close();
  EXPECT_EQ(Journal::read(path).summary().outcomes, 15'001U);
}

}  // namespace
}  // namespace culmen
