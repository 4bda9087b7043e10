#include "culmen/base/process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
using testing::HasSubstr;

/// The output of a shell script; `request` may name more descriptors.
std::string output_of(const std::string& script, SpawnRequest request = {}) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  request.command = {"sh", "-c", script};
  request.descriptors.emplace_back(ends[1], 1);
  const auto pid = spawn(request);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  close(ends[0]);
  EXPECT_EQ(reap(pid), 0);
  return text;
}

std::string error_of(const SpawnRequest& request) {
  try {
    spawn(request);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool readable_within(int fd, int limit_ms) {
  pollfd waker{fd, POLLIN, 0};
  return poll(&waker, 1, limit_ms) == 1;
}

SpawnRequest sleeper() {
  SpawnRequest request;
  request.command = {"sleep", "3600"};
  return request;
}

TEST(Spawn, adds_its_environment_to_this_process_s_own_and_wins_over_it) {
  setenv("CULMEN_TEST_A", "ours", 1);
  setenv("CULMEN_TEST_B", "ours", 1);
  SpawnRequest request;
  request.environment = {{"CULMEN_TEST_B", "theirs"}, {"CULMEN_TEST_C", "a=b"}};
  EXPECT_EQ(output_of("echo $CULMEN_TEST_A $CULMEN_TEST_B $CULMEN_TEST_C; env | grep -c ^CULMEN_TEST_B", request),
            "ours theirs a=b\n1\n");
}

TEST(Spawn, removes_variables_on_wish) {
  setenv("CULMEN_TEST_A", "ours", 1);
  SpawnRequest request;
  request.environment = {{"CULMEN_TEST_A", std::nullopt}, {"CULMEN_TEST_D", std::nullopt}};
  EXPECT_EQ(output_of("env | grep -c '^CULMEN_TEST_[AD]=' || true", request), "0\n");
}

TEST(Spawn, passes_on_nothing_that_tells_a_rank_its_place_in_a_launch) {
  const auto of_launch = {"OMPI_COMM_WORLD_RANK", "OMPI_MCA_orte_hnp_uri", "OMPI_UNIVERSE_SIZE", "PMIX_RANK", "PMI_FD",
                          "HYDI_CONTROL_FD",      "SLURM_PROCID"};
  const auto of_users = {"OMPI_MCA_btl", "PMIX_MCA_ptl_tcp_if_include", "SLURM_JOB_ID", "I_MPI_FABRICS"};
  for (const auto* name : of_launch) setenv(name, "3", 1);
  for (const auto* name : of_users) setenv(name, "a", 1);
  for (const auto* name : of_launch) EXPECT_EQ(output_of(std::string("echo ") + "${" + name + "-gone}"), "gone\n");
  for (const auto* name : of_users) EXPECT_EQ(output_of(std::string("echo ") + "${" + name + "-gone}"), "a\n");
  SpawnRequest request;
  request.environment = {{"PMI_RANK", "7"}};
  EXPECT_EQ(output_of("echo $PMI_RANK", request), "7\n");
  for (const auto* name : of_launch) unsetenv(name);
  for (const auto* name : of_users) unsetenv(name);
}

TEST(Spawn, starts_in_the_working_folder) {
  SpawnRequest request;
  request.working_folder = "/usr";
  EXPECT_EQ(output_of("pwd", request), "/usr\n");
}

TEST(Spawn, makes_the_child_lead_a_group_or_a_session) {
  const auto ids =
      "set -- $(cat /proc/self/stat | sed 's/.*) //'); p=$$; set -- $(sed 's/.*) //' /proc/$p/stat); echo $(($3 == p)) "
      "$(($4 == p))";
  EXPECT_EQ(output_of(ids), "1 0\n");
  SpawnRequest request;
  request.new_session = true;
  EXPECT_EQ(output_of(ids, request), "1 1\n");
}

TEST(Spawn, gives_default_signals_and_an_empty_mask) {
  signal(SIGUSR1, SIG_IGN);
  sigset_t mask, old;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &mask, &old);
  const auto text = output_of("grep -E '^Sig(Blk|Ign)' /proc/self/status");
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  signal(SIGUSR1, SIG_DFL);
  EXPECT_THAT(text, HasSubstr("SigBlk:\t0000000000000000\n"));
  EXPECT_THAT(text, testing::EndsWith("0000000\n")) << "signals 1 to 28; glibc keeps 32 and 33 to itself";
}

TEST(Spawn, moves_descriptors_whose_numbers_collide) {
  int a[2], b[2];
  ASSERT_EQ(pipe2(a, O_CLOEXEC), 0);
  ASSERT_EQ(pipe2(b, O_CLOEXEC), 0);
  ASSERT_EQ(write(a[1], "from a\n", 7), 7);
  ASSERT_EQ(write(b[1], "from b\n", 7), 7);
  SpawnRequest request;
  request.descriptors = {{a[0], b[0]}, {b[0], a[0]}};  // a swap
  const auto script = "head -n 1 <&" + std::to_string(b[0]) + "; head -n 1 <&" + std::to_string(a[0]);
  EXPECT_EQ(output_of(script, request), "from a\nfrom b\n");
  request.descriptors = {{a[0], a[0]}};  // its own number: still open in the child
  ASSERT_EQ(write(a[1], "again\n", 6), 6);
  EXPECT_EQ(output_of("head -n 1 <&" + std::to_string(a[0]), request), "again\n");
  for (int fd : {a[0], a[1], b[0], b[1]}) close(fd);
}

TEST(Spawn, leaves_no_other_descriptor_open) {
  const int careless = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as other people's libraries do; 3 is ls's own
  EXPECT_EQ(output_of("exec ls /proc/self/fd"), "0\n1\n2\n3\n");
  close(careless);
}

TEST(Spawn, says_which_program_and_why_not) {
  SpawnRequest request;
  request.command = {"no-such-program"};
  EXPECT_EQ(error_of(request), "cannot start 'no-such-program': No such file or directory");
  request.command = {"/etc/passwd"};
  EXPECT_EQ(error_of(request), "cannot start '/etc/passwd': Permission denied");
  request = sleeper();
  request.working_folder = "/no/folder";
  EXPECT_EQ(error_of(request), "cannot start 'sleep' in folder '/no/folder': No such file or directory");
  EXPECT_THAT(error_of({}), HasSubstr("no name"));
}

TEST(Process, is_alive_until_it_is_a_zombie) {
  const auto pid = spawn(sleeper());
  const auto id = identify(pid);
  EXPECT_GT(id.start_ticks, 0U);
  EXPECT_TRUE(alive(id));
  EXPECT_FALSE(alive({pid, id.start_ticks + 1})) << "another process of that id";
  const int fd = open_pidfd(id);
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(readable_within(fd, 0));
  kill_group(pid);
  EXPECT_TRUE(readable_within(fd, 5000));
  EXPECT_FALSE(alive(id)) << "dead, though nobody has reaped it";
  EXPECT_EQ(open_pidfd(id), -1);
  EXPECT_EQ(WTERMSIG(reap(pid)), SIGKILL);
  EXPECT_EQ(identify(pid).start_ticks, 0U);
  close(fd);
}

TEST(Process, has_a_parent_until_it_is_gone) {
  const auto pid = spawn(sleeper());
  EXPECT_EQ(parent_of(pid), getpid());
  kill_group(pid);
  reap(pid);
  EXPECT_EQ(parent_of(pid), 0);
}

TEST(Process, whose_id_was_reused_gets_no_descriptor) {
  const auto self = this_process();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_EQ(open_pidfd({self.pid, self.start_ticks + 1}), -1);
  EXPECT_EQ(open_pidfd({0, 0}), -1);
  const int fd = open_pidfd(self);
  EXPECT_GE(fd, 0);
  close(fd);
}

TEST(Process, of_a_name_with_brackets_and_blanks_is_identified) {
  const auto folder = testing::TempDir() + "culmen) R 1 (" + std::to_string(getpid());
  ASSERT_EQ(symlink("/bin/sleep", folder.c_str()), 0);
  SpawnRequest request;
  request.command = {folder, "3600"};
  const auto pid = spawn(request);
  EXPECT_TRUE(alive(identify(pid)));
  EXPECT_GE(identify(pid).start_ticks, this_process().start_ticks);
  EXPECT_EQ(parent_of(pid), getpid());
  kill_group(pid);
  reap(pid);
  unlink(folder.c_str());
}

TEST(KillGroup, takes_the_grandchildren_too_and_bears_what_is_gone) {
  SpawnRequest request;
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  request.command = {"sh", "-c", "sleep 3600 & echo; wait"};
  request.descriptors = {{ends[1], 1}};
  const auto pid = spawn(request);
  close(ends[1]);
  char byte = 0;
  ASSERT_EQ(read(ends[0], &byte, 1), 1);
  kill_group(pid);
  reap(pid);
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the grandchild held the pipe";
  close(ends[0]);
  kill_group(pid);
}

}  // namespace
}  // namespace culmen
