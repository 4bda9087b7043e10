#include "culmen/study/source/points_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

std::vector<Candidate> asked(PointsSource& source, std::size_t n) {
  std::vector<Candidate> out;
  source.ask(n, out);
  return out;
}

TEST(PointsSource, gives_vectors_in_their_order_and_whole_outcomes_back) {
  PointsSource source;
  source.push({{1, 2}, {3, 4}, {5, 6}});
  const auto first = asked(source, 2), second = asked(source, 2);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(first[1].x, (std::vector<double>{3, 4}));
  EXPECT_EQ(second[0].id, 2u);
  auto good = Outcome::of_residuals({3, 4});
  good.extras = {{"figure", 7}};
  auto bad = Outcome::failure(Status::crashed, "it died");
  source.tell(2, bad);
  source.tell(0, good);
  const auto finished = source.take(0);
  ASSERT_EQ(finished.size(), 2u);
  EXPECT_EQ(finished[0].number, 2u);
  EXPECT_EQ(finished[0].outcome.message, "it died");
  EXPECT_EQ(finished[1].outcome.value, 25);
  EXPECT_EQ(finished[1].outcome.residuals, (std::vector<double>{3, 4}));
  EXPECT_EQ(finished[1].outcome.extras.at(0).second, 7);
  EXPECT_TRUE(source.take(0).empty());
}

TEST(PointsSource, is_finished_when_it_is_closed_and_all_came_back) {
  PointsSource source;
  EXPECT_FALSE(source.finished());
  source.push({{1}, {2}});
  const auto sent = asked(source, 2);
  source.close();
  EXPECT_FALSE(source.finished());
  auto outcome = Outcome::of_value(1);
  source.tell(sent[0].id, outcome);
  source.cancel(sent[1].id);
  EXPECT_TRUE(source.finished());
  EXPECT_THROW(source.push({{3}}), InputError);
}

TEST(PointsSource, says_when_the_engine_waits_for_more) {
  PointsSource source;
  EXPECT_FALSE(source.push({{1}}));  // nobody has asked yet
  asked(source, 2);
  EXPECT_TRUE(source.push({{2}}));
  EXPECT_FALSE(source.push({{3}}));  // once is enough
}

TEST(PointsSource, wakes_who_takes_when_the_engine_has_ended) {
  PointsSource source;
  std::thread engine([&] { source.end(); });
  const double for_ever_s = 1e6;
  EXPECT_TRUE(source.take(for_ever_s).empty());
  EXPECT_TRUE(source.ended());
  engine.join();
}

}  // namespace
}  // namespace culmen
