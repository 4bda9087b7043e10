#include "culmen/worker/guard.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "culmen/worker/child.hpp"
#include "helpers.hpp"

namespace culmen {
namespace {
/// A child of this test that plays the master of a run, or a worker of it.
pid_t start_shell(const std::string& script, const std::string& marker, bool marked) {
  SpawnRequest request;
  request.command = {"/bin/sh", "-c", script};
  request.environment["MARKER"] = marker;
  if (marked) request.environment["CULMEN_RUN"] = marker;
  request.descriptors = {{null_device(), 0}, {null_device(), 1}, {null_device(), 2}};
  return spawn(request);
}

constexpr const char* children_of_all_kinds =
    "CULMEN_RUN=$MARKER sleep 3600 &"                                          // a child
    "CULMEN_RUN=$MARKER setsid sh -c 'sleep 3600 & wait' &"                    // a grandchild in a session of its own
    "CULMEN_RUN=$MARKER setsid sh -c 'env -u CULMEN_RUN sleep 3599 & wait' &"  // one that dropped the mark, in the
                                                                               // group of one that has it
    "wait";

TEST(RunMarker, is_fresh_at_each_call) { EXPECT_NE(make_run_marker(), make_run_marker()); }

TEST(Guard, kills_whatever_a_killed_master_has_started_within_a_second) {
  const auto marker = make_run_marker();
  const auto bystander = start_shell("sleep 3600", marker, false);
  const auto master = start_shell(children_of_all_kinds, marker, false);
  const auto guard = start_guard(identify(master), marker);
  ASSERT_TRUE(holds_within(5, [&] { return processes_of(marker).size() >= 4; })) << processes_of(marker).size();
  EXPECT_TRUE(alive(identify(guard)));
  kill(master, SIGKILL);
  reap(master);
  EXPECT_TRUE(holds_within(1, [&] { return processes_of(marker).empty(); })) << processes_of(marker).size() << " left";
  EXPECT_TRUE(holds_within(1, [&] { return !alive(identify(guard)); }));
  EXPECT_EQ(reap(guard), 0);
  EXPECT_TRUE(alive(identify(bystander)));
  kill_group(bystander);
  reap(bystander);
}

TEST(Guard, of_a_master_that_is_gone_already_goes_to_work_at_once) {
  const auto marker = make_run_marker();
  const auto orphan = start_shell("sleep 3600", marker, true);
  const auto self = this_process();
  const auto guard = start_guard({self.pid, self.start_ticks + 1}, marker);  // this id, but of an earlier process
  EXPECT_EQ(WTERMSIG(reap(orphan)), SIGKILL);
  EXPECT_EQ(reap(guard), 0);
}

TEST(Guard, of_one_run_is_not_killed_by_the_guard_of_another) {
  const auto outer = make_run_marker(), inner = make_run_marker();
  setenv("CULMEN_RUN", outer.c_str(), 1);
  const auto guard = start_guard(this_process(), inner);
  unsetenv("CULMEN_RUN");
  EXPECT_TRUE(processes_of(outer).empty());
  kill_group(guard);
  reap(guard);
}

TEST(Lifeline, ends_a_worker_and_its_children_when_the_master_dies) {
  const auto marker = make_run_marker();
  const auto master = start_shell("sleep 3600", marker, false);
  const auto master_id = identify(master);
  EXPECT_EXIT(
      {
        start_shell("sleep 3600", marker, true);
        std::thread([master] { kill_group(master); }).detach();
        const Lifeline lifeline(master_id, marker);
        for (;;) pause();
      },
      testing::ExitedWithCode(1), "");
  reap(master);
  EXPECT_TRUE(holds_within(1, [&] { return processes_of(marker).empty(); }));
}

}  // namespace
}  // namespace culmen
