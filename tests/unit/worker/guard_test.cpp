#include "culmen/worker/process/guard.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "culmen/worker/process/child.hpp"
#include "culmen/worker/process/child_table.hpp"
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

TEST(Guard, kills_whatever_a_killed_master_has_started) {
  const auto marker = make_run_marker();
  const auto bystander = start_shell("sleep 3600", marker, false);
  const auto master = start_shell(children_of_all_kinds, marker, false);
  const auto guard = start_guard(identify(master), marker);
  ASSERT_TRUE(holds_within(patience_s, [&] { return processes_of(marker).size() >= 4; }))
      << processes_of(marker).size();
  EXPECT_TRUE(alive(identify(guard)));
  kill(master, SIGKILL);
  reap(master);
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(marker).empty(); }))
      << processes_of(marker).size() << " left";
  EXPECT_TRUE(holds_within(patience_s, [&] { return !alive(identify(guard)); }));
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

void list(ChildTable& table, pid_t child) { table.claim()->child = child; }

struct Scene {
  bool new_session = false;    // of the group
  bool leader_leaves = false;  // before the guard comes
  bool member_is_listed = false;
};
struct Ended {
  bool leader, member;
};

/// Which of two processes without a mark the guard ends: the leader of a group, which stands in the table, and one
/// that it has started.
Ended end_by_table(const Scene& scene) {
  const auto table = ChildTable::create(make_run_marker());
  const auto master = start_shell("sleep 3600", "", false);
  const auto guard = start_guard(identify(master), table->marker());
  const auto file = fresh_folder() + "/member";
  SpawnRequest request;
  request.command = {"/bin/sh", "-c",
                     scene.leader_leaves ? "sleep 3600 & echo $! >$0" : "sleep 3600 & echo $! >$0; wait", file};
  request.new_session = scene.new_session;
  const auto leader = identify(spawn(request));
  EXPECT_TRUE(holds_within(patience_s, [&] { return read_file(file).ends_with('\n'); }));
  const auto member = identify(std::stoi(read_file(file)));
  if (scene.leader_leaves) reap(leader.pid);
  list(*table, scene.member_is_listed ? member.pid : leader.pid);
  kill_group(master);
  reap(master);
  EXPECT_EQ(reap(guard), 0);
  const Ended ended{!alive(leader), !alive(member)};
  if (alive(member)) kill(member.pid, SIGKILL);
  if (scene.leader_leaves) return ended;
  kill_group(leader.pid);
  reap(leader.pid);
  return ended;
}

TEST(Guard, kills_the_group_of_a_child_in_the_table_that_has_no_mark) {
  const auto ended = end_by_table({});
  EXPECT_TRUE(ended.leader);
  EXPECT_TRUE(ended.member);
}

TEST(Guard, kills_what_a_child_in_the_table_left_in_its_group) {
  EXPECT_TRUE(end_by_table({.leader_leaves = true}).member);
}

TEST(Guard, leaves_a_group_of_another_session_that_has_the_number_of_a_child) {
  const auto ended = end_by_table({.new_session = true});
  EXPECT_FALSE(ended.leader);
  EXPECT_FALSE(ended.member);
}

TEST(Guard, leaves_a_process_that_has_the_number_of_a_child_and_leads_no_group) {
  const auto ended = end_by_table({.member_is_listed = true});
  EXPECT_FALSE(ended.leader);
  EXPECT_FALSE(ended.member);
}

TEST(Lifeline, ends_a_workers_own_children_without_a_mark_but_not_those_of_others) {
  const auto table = ChildTable::create(make_run_marker());
  const auto master = start_shell("sleep 3600", "", false), others = start_shell("sleep 3600", "", false);
  const auto master_id = identify(master);
  list(*table, others);
  EXPECT_EXIT(
      {
        list(*table, start_shell("sleep 3600", "", false));
        std::thread([master] { kill_group(master); }).detach();
        const Lifeline lifeline(master_id, table->marker());
        for (;;) pause();
      },
      testing::ExitedWithCode(1), "");
  reap(master);
  ASSERT_EQ(table->children().size(), 2u);
  const auto own = identify(table->children()[1].child);
  EXPECT_TRUE(holds_within(patience_s, [&] { return !alive(own); }));
  EXPECT_TRUE(alive(identify(others)));
  kill_group(own.pid);
  kill_group(others);
  reap(others);
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
  EXPECT_TRUE(holds_within(patience_s, [&] { return processes_of(marker).empty(); }));
}

}  // namespace
}  // namespace culmen
