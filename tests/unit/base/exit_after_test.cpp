#include "culmen/base/exit_after.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace culmen {
namespace {
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;

TEST(ExitAfterDeathTest, ends_a_process_whose_last_call_does_not_return) {
  const auto hang = [] {
    const ExitAfter deadline(1ms, 7);
    for (;;) pause();
  };
  EXPECT_EXIT(hang(), testing::ExitedWithCode(7), "");
}

TEST(ExitAfterDeathTest, leaves_a_process_alone_whose_last_call_returns) {
  const auto leave = [] {
    { const ExitAfter deadline(1h, 7); }
    _exit(3);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace culmen
