#include "culmen/base/stops.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "culmen/base/process.hpp"

namespace culmen {
namespace {
void handler(int) {}

struct sigaction action_of(int number) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now;
}

/// The signal that ended a fork which sends it to itself, or 0.
int end_of_fork(int number) {
  const pid_t child = fork();
  if (child == 0) {
    kill(getpid(), number);
    _exit(0);
  }
  const int status = reap(child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/// The same for a program.
int end_of_program(int number) {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "kill -$1 $$; exit 0", "sh", std::to_string(number).c_str(), nullptr);
    _exit(127);
  }
  const int status = reap(child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

bool blocked(int number) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, number) == 1;
}

void block(int number, int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(how, &set, nullptr);
}

TEST(Stops, do_nothing_where_they_are_ignored_but_end_what_is_started_there) {
  signal(SIGTERM, handler);
  {
    const StopSignalsIgnored ignored;
    const StopSignalsIgnored nested;
    for (const int stop : stop_signals) {
      kill(getpid(), stop);
      EXPECT_EQ(end_of_fork(stop), stop);
      EXPECT_EQ(end_of_program(stop), stop);
      EXPECT_FALSE(blocked(stop));
    }
  }
  EXPECT_EQ(action_of(SIGTERM).sa_handler, handler);
  EXPECT_EQ(action_of(SIGHUP).sa_handler, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
}

TEST(Stops, leave_a_handler_that_the_function_has_set_to_its_forks) {
  const StopSignalsIgnored ignored;
  const StopsReachChildren here;
  signal(SIGUSR1, handler);
  EXPECT_EQ(end_of_fork(SIGUSR1), 0);
  EXPECT_EQ(end_of_fork(SIGTERM), SIGTERM);
}

TEST(Stops, end_what_a_thread_of_a_master_starts) {
  signal(SIGTERM, handler);
  signal(SIGHUP, SIG_IGN);
  block(SIGTERM, SIG_BLOCK);
  EXPECT_EQ(end_of_fork(SIGTERM), 0);
  {
    const StopsReachChildren here;
    EXPECT_EQ(end_of_fork(SIGTERM), SIGTERM);
    EXPECT_EQ(end_of_program(SIGTERM), SIGTERM);
    EXPECT_EQ(end_of_fork(SIGHUP), 0) << "it was started with nohup";
    EXPECT_EQ(action_of(SIGTERM).sa_handler, handler);
  }
  EXPECT_TRUE(blocked(SIGTERM));
  block(SIGTERM, SIG_UNBLOCK);
  EXPECT_EQ(end_of_fork(SIGTERM), 0);
  signal(SIGTERM, SIG_DFL);
  signal(SIGHUP, SIG_DFL);
}

TEST(Stops, leave_the_handlers_of_a_fork_to_its_own_forks) {
  const StopsReachChildren here;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, handler);
    _exit(end_of_fork(SIGTERM));
  }
  EXPECT_EQ(WEXITSTATUS(reap(child)), 0);
}

// Handlers of a fork run in the order of their registration. Therefore this test needs a process of its own.
TEST(StopsDeathTest, are_not_lost_before_a_fork_has_the_default_actions) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto send_within_fork = [] {
    pthread_atfork(nullptr, nullptr, [] { kill(getpid(), SIGTERM); });
    const StopSignalsIgnored ignored;
    _exit(end_of_fork(0));
  };
  EXPECT_EXIT(send_within_fork(), testing::ExitedWithCode(SIGTERM), "");
}

}  // namespace
}  // namespace culmen
