#include "culmen/base/descriptors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "culmen/base/error.hpp"
#include "culmen/base/process.hpp"

namespace culmen {
namespace {

rlimit limit() {
  rlimit now{};
  getrlimit(RLIMIT_NOFILE, &now);
  return now;
}

void set_soft(rlim_t soft) {
  auto now = limit();
  now.rlim_cur = soft;
  setrlimit(RLIMIT_NOFILE, &now);
}

/// A soft limit of 512 for the test.
class Descriptors : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(limit().rlim_max, 2048U) << "this test needs a higher hard limit of open files";
    set_soft(512);
  }
  void TearDown() override { set_soft(former_); }

 private:
  const rlim_t former_ = limit().rlim_cur;
};

TEST_F(Descriptors, are_left_alone_while_there_are_enough) {
  const DescriptorRoom room(100);
  EXPECT_EQ(limit().rlim_cur, 512U);
  EXPECT_EQ(childs_descriptor_limit(), 0U);
}

TEST_F(Descriptors, become_more_for_all_that_live_and_are_given_back_after_the_last) {
  std::optional<DescriptorRoom> first(400), second(400);
  EXPECT_GE(limit().rlim_cur, 800U);
  first.reset();
  EXPECT_GE(limit().rlim_cur, 800U) << "somebody still needs them";
  second.reset();
  EXPECT_EQ(limit().rlim_cur, 512U);
}

TEST_F(Descriptors, are_as_many_as_before_in_a_child) {
  const DescriptorRoom room(1000);
  ASSERT_GT(limit().rlim_cur, 1000U);
  SpawnRequest request;
  request.command = {"sh", "-c", "test $(ulimit -Sn) = 512 && test \"$0\" = 'a b'", "a b"};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(reap(spawn(request)), 0);
  request.command = {"/no/such"};
  EXPECT_EQ(WEXITSTATUS(reap(spawn(request))), 127);
}

/// In a process of its own, which cannot have its hard limit back.
[[noreturn]] void ask_for_too_many() {
  rlimit hard{};
  hard.rlim_cur = 512;
  hard.rlim_max = 600;
  setrlimit(RLIMIT_NOFILE, &hard);
  std::string said = "nothing was thrown";
  try {
    const DescriptorRoom room(1000);
  } catch (const InputError& error) {
    said = error.what();
  }
  const DescriptorRoom still_possible(300);
  std::fputs(said.c_str(), stderr);
  _exit(limit().rlim_cur == 600 ? 0 : 1);
}

TEST_F(Descriptors, that_the_system_does_not_allow_are_named_in_a_sentence) {
  EXPECT_EXIT(ask_for_too_many(), testing::ExitedWithCode(0),
              "the workers of this process need 1256 open files, but the system allows 600 .ulimit -Hn.; use "
              "fewer workers");
}

}  // namespace
}  // namespace culmen
