#include "culmen/worker/process/child.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

namespace culmen {
namespace {
using testing::EndsWith;
using testing::StartsWith;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(WithTail, quotes_short_lines_as_they_are) {
  EXPECT_EQ(with_tail("it failed", ""), "it failed");
  EXPECT_EQ(with_tail("it failed", "\n\n"), "it failed");
  EXPECT_EQ(with_tail("it failed", "one\n\n  two\n\n"), "it failed\none\n\n  two");
  EXPECT_EQ(with_tail("it failed", repeated("a", 300)), "it failed\n" + repeated("a", 300));
}

TEST(WithTail, cuts_the_end_of_each_long_line) {
  EXPECT_EQ(with_tail("it failed", "error: " + repeated("x", 1000) + "\nlast\n"),
            "it failed\nerror: " + repeated("x", 293) + "…\nlast");
  EXPECT_EQ(with_tail("it failed", "a" + repeated("é", 400)), "it failed\na" + repeated("é", 149) + "…");
}

TEST(WithTail, quotes_the_end_of_a_line_whose_begin_is_too_far_away) {
  EXPECT_EQ(with_tail("it failed", repeated("x", 100000) + "end\n"), "it failed\n…" + repeated("x", 297) + "end");
  EXPECT_EQ(with_tail("it failed", "a" + repeated("é", 4000) + "b"), "it failed\n…" + repeated("é", 149) + "b");
}

TEST(WithTail, quotes_at_most_the_last_lines_of_a_long_log) {
  const auto text = with_tail("it failed", repeated("0123456789abcde\n", 5000));
  EXPECT_THAT(text, StartsWith("it failed\n0123456789abcde\n")) << "no mark of a line of which nothing is left";
  EXPECT_THAT(text, EndsWith("\n0123456789abcde"));
  EXPECT_LT(text.size(), 2100);
  EXPECT_EQ(with_tail("it failed", repeated("0123456789abcde\n", 5000) + repeated("b", 2047)),
            "it failed\n" + repeated("b", 300) + "…")
      << "a whole line that just fits";
  EXPECT_EQ(with_tail("it failed", repeated("0123456789abcde\n", 5000) + repeated("b\n", 1022) + "bb"),
            "it failed\n…e\n" + repeated("b\n", 1022) + "bb");
}

TEST(ChildLog, has_enough_text_to_see_that_a_line_is_not_whole) {
  const ChildLog log;
  const auto text = repeated("x", 10000) + "end\n";
  ASSERT_EQ(write(log.fd(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(with_tail("it failed", log.tail()), "it failed\n…" + repeated("x", 297) + "end");
}
}  // namespace
}  // namespace culmen
