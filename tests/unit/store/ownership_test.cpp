#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "culmen/base/clock.hpp"
#include "culmen/base/process.hpp"
#include "culmen/store/owner.hpp"
#include "store_test.hpp"

namespace culmen {
namespace {
using testing::AllOf;
using testing::HasSubstr;

class OwnershipTest : public StoreTest {
 protected:
  Journal resume() { return Journal::resume(path, Durability::process, "culmen 0.2"); }
  void owner_is(const Owner& owner) {
    sql(path, fmt::format("DELETE FROM owner; INSERT INTO owner VALUES ('{}', '{}', '{}', {}, {}, 1, {})", owner.host,
                          owner.boot, owner.process_namespace, owner.process.pid, owner.process.start_ticks,
                          owner.renewed_s));
  }
  void stop_after_an_ask() {
    auto journal = make(path);
    journal.append(ask(0, 1));
    journal.close();
  }
  /// A child that owns the study and lives until killed.
  ForkedChild master() {
    return ForkedChild([&](int pipe) {
      auto journal = make(path);
      const std::uint64_t ready = 1;
      if (write(pipe, &ready, sizeof ready) < 0) return;
      pause();
    });
  }
};

TEST_F(OwnershipTest, a_second_master_is_refused_by_the_name_of_the_first_until_that_is_dead) {
  auto first = master();
  std::uint64_t ready;
  ASSERT_TRUE(first.receive(ready));
  const auto sentence =
      AllOf(HasSubstr(path), HasSubstr(fmt::format("process {}", first.pid())), HasSubstr("host " + this_owner().host));
  EXPECT_THAT(error_of([&] { resume(); }), sentence);
  auto summary = Journal::read(path).summary();
  EXPECT_TRUE(summary.owned);
  EXPECT_EQ(summary.owner, fmt::format("host {}, process {}", this_owner().host, first.pid()));
  kill(first.pid(), SIGSTOP);
  EXPECT_THAT(error_of([&] { resume(); }), sentence) << "a stopped master lives";

  first.kill();
  EXPECT_FALSE(Journal::read(path).summary().owned);
  auto journal = resume();
  EXPECT_EQ(journal.epoch(), 2U);
  journal.append(ask(0, 1));
  journal.commit();
  journal.close();
  EXPECT_EQ(resume().epoch(), 3U);
}

TEST_F(OwnershipTest, every_start_of_a_master_is_kept) {
  make(path).close();
  Journal::resume(path, Durability::process, "culmen 9").close();
  const auto starts = Journal::read(path).starts();
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[0].epoch, 1U);
  EXPECT_EQ(starts[0].build, some_study().build);
  EXPECT_EQ(starts[1].epoch, 2U);
  EXPECT_EQ(starts[1].build, "culmen 9");
  EXPECT_EQ(starts[1].pid, getpid());
  EXPECT_FALSE(starts[1].host.empty());
  EXPECT_LE(starts[0].started_s, starts[1].started_s);
}

TEST_F(OwnershipTest, a_second_master_in_the_same_process_is_refused_until_the_first_is_dropped) {
  {
    auto first = make(path);
    EXPECT_THAT(error_of([&] { resume(); }), HasSubstr(fmt::format("process {}", getpid())));
  }
  EXPECT_EQ(resume().epoch(), 2U);
}

TEST_F(OwnershipTest, a_closed_study_has_no_owner) {
  auto journal = make(path);
  EXPECT_TRUE(journal.summary().owned);
  journal.close();
  const auto summary = Journal::read(path).summary();
  EXPECT_FALSE(summary.owned);
  EXPECT_EQ(summary.owner, "");
}

TEST_F(OwnershipTest, a_reused_process_id_is_not_the_owner) {
  stop_after_an_ask();
  auto owner = this_owner();
  owner.process = identify(getppid());
  owner_is(owner);
  EXPECT_THAT(error_of([&] { resume(); }), HasSubstr("stop that one first"));
  ++owner.process.start_ticks;
  owner_is(owner);
  EXPECT_EQ(resume().epoch(), 2U);
}

TEST_F(OwnershipTest, another_boot_of_the_same_host_is_dead) {
  stop_after_an_ask();
  auto owner = this_owner();
  owner.process = identify(getppid());
  owner.boot = "another";
  owner_is(owner);
  EXPECT_EQ(resume().epoch(), 2U);
}

TEST_F(OwnershipTest, another_host_or_container_is_dead_after_a_minute_of_silence) {
  stop_after_an_ask();
  auto far = this_owner(), beside = this_owner();
  far.host = "node7";
  far.boot = "another";
  beside.process_namespace = "pid:[1]";
  beside.process = {1, 1};
  Epoch epoch = 1;
  for (auto owner : {far, beside}) {
    owner.renewed_s = wall_clock_s() - 50;
    owner_is(owner);
    EXPECT_THAT(error_of([&] { resume(); }),
                AllOf(HasSubstr("host " + owner.host), HasSubstr("sign of life was 50 s ago")));
    EXPECT_TRUE(Journal::read(path).summary().owned);
    owner.renewed_s = wall_clock_s() - 61;
    owner_is(owner);
    EXPECT_FALSE(Journal::read(path).summary().owned);
    EXPECT_EQ(resume().epoch(), ++epoch);
  }
}

TEST_F(OwnershipTest, renewal_is_written) {
  auto journal = make(path);
  sql(path, "UPDATE owner SET host = 'node7', boot = 'another', renewed_s = 1");
  EXPECT_FALSE(Journal::read(path).summary().owned);
  journal.renew_ownership();
  EXPECT_TRUE(Journal::read(path).summary().owned);
}

TEST_F(OwnershipTest, a_master_that_lost_the_study_writes_nothing_more) {
  auto paused = make(path);
  paused.append(ask(0, 1));
  paused.commit();
  sql(path, "UPDATE owner SET host = 'node7', boot = 'another', renewed_s = 1");
  auto second = resume();
  second.append(ask(1, 1));
  second.commit();
  const auto sentence = AllOf(HasSubstr(path), HasSubstr("has lost the study"), HasSubstr("epoch 2"));
  EXPECT_THAT(error_of([&] {
                paused.append(outcome(0, 1));
                paused.commit();
              }),
              sentence);
  EXPECT_THAT(error_of([&] { paused.renew_ownership(); }), sentence);
  EXPECT_THAT(error_of([&] { paused.close(); }), sentence);
  second.append(ask(2, 1));
  second.commit();
  EXPECT_TRUE(second.summary().owned);
  EXPECT_EQ(second.summary().outcomes, 0U);
  EXPECT_EQ(calls_of(second).size(), 3U);
}

}  // namespace
}  // namespace culmen
