#include "culmen/store/writer.hpp"

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "culmen/base/clock.hpp"
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

TEST_F(WriterTest, TicketsBecomeDurableInOrderAndEachCommitIsReported) {
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

TEST_F(WriterTest, OneRowAloneIsCommittedAtOnce) {
  Writer writer(make(path), [] {});
  for (std::uint64_t k = 1; k <= 20; ++k) {
    EXPECT_EQ(writer.push(outcome(k, 1)), k);
    ASSERT_TRUE(eventually([&] { return writer.durable() == k; })) << writer.durable();
    EXPECT_EQ(Journal::read(path).summary().outcomes, k);
  }
}

TEST_F(WriterTest, CloseWritesAllThatWasPushed) {
  Writer writer(make(path), [] {});
  for (std::uint64_t index = 0; index < 30'000; ++index)
    push_numbered(
        index, [&](const CallRecord& record) { writer.push(record); },
        [&](const OutcomeRecord& record) { writer.push(record); });
  writer.close();
  EXPECT_EQ(writer.durable(), 30'000U);
  EXPECT_EQ(numbered_prefix(Journal::read(path)), 30'000U);
}

TEST_F(WriterTest, TheDestructorWritesAllThatWasPushed) {
  {
    Writer writer(make(path), [] {});
    for (EvaluationId id = 0; id < 3000; ++id) writer.push(outcome(id, 1));
  }
  EXPECT_EQ(Journal::read(path).summary().outcomes, 3000U);
  EXPECT_EQ(Journal::resume(path, Durability::process).epoch(), 2U);
}

TEST_F(WriterTest, PushWaitsWhenTheDiskIsAHundredThousandRowsBehind) {
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

TEST_F(WriterTest, ALostStudyEndsTheWritingAndFreesThePusher) {
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

TEST_F(WriterTest, AnIdleWriterRenewsTheOwnership) {
  Writer writer(
      make(path), [] {}, 20ms);
  sql(path, "UPDATE owner SET host = 'node7', boot = 'another', renewed_s = 1");
  EXPECT_TRUE(eventually([&] { return Journal::read(path).summary().owned; }));
}

TEST_F(WriterTest, TheDirectRecorderIsDurableWhenPushReturns) {
  DirectRecorder recorder(make(path));
  for (std::uint64_t index = 0; index < 25; ++index) {
    push_numbered(
        index, [&](const CallRecord& record) { recorder.push(record); },
        [&](const OutcomeRecord& record) { recorder.push(record); });
    EXPECT_EQ(recorder.durable(), index + 1);
    EXPECT_EQ(numbered_prefix(Journal::read(path)), index + 1);
  }
  sql(path, "UPDATE owner SET epoch = 7");
  EXPECT_EQ(recorder.push(outcome(99, 1)), 26U);
  EXPECT_EQ(recorder.durable(), 25U);
  EXPECT_THAT(recorder.error(), HasSubstr("has lost the study"));
  EXPECT_THAT(error_of([&] { recorder.close(); }), HasSubstr("has lost the study"));
}

}  // namespace
}  // namespace culmen
