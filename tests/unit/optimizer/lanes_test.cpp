// Common parts of optimizers: lanes of turns, and memos of open candidates.
#include "culmen/optimizer/parts/lanes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/core/remembering.hpp"

namespace culmen {
namespace {
struct PlainLane {
  Turn turn;
};

std::vector<std::pair<std::size_t, std::size_t>> served(Lanes<PlainLane>& lanes, std::size_t most = 100) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (; most > 0; --most) {
    const auto place = lanes.serve();
    if (!place) break;
    out.emplace_back(place->lane, place->point);
  }
  return out;
}

using Places = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Lanes, serve_the_points_of_the_first_lanes_first_and_each_once) {
  Lanes<PlainLane> lanes(2);
  EXPECT_EQ(served(lanes), Places{});
  lanes.begin_turn(0, 2);
  lanes.begin_turn(1, 1);
  EXPECT_EQ(served(lanes), (Places{{0, 0}, {0, 1}, {1, 0}}));
  EXPECT_EQ(served(lanes), Places{});
}

TEST(Lanes, serve_a_lane_again_when_its_next_turn_begins) {
  Lanes<PlainLane> lanes(2);
  lanes.begin_turn(0, 1);
  lanes.begin_turn(1, 2);
  EXPECT_EQ(served(lanes, 2), (Places{{0, 0}, {1, 0}}));
  lanes.settle(0);
  EXPECT_TRUE(lanes[0].turn.settled());
  lanes.begin_turn(0, 1);
  EXPECT_EQ(served(lanes), (Places{{0, 0}, {1, 1}}));
}

TEST(Lanes, are_settled_when_all_points_of_all_turns_are) {
  Lanes<PlainLane> lanes(1);
  lanes.begin_turn(0, 1);
  lanes.begin_turn(lanes.add(), 2);
  EXPECT_EQ(served(lanes).size(), 3u);
  lanes.settle(1);
  lanes.settle(0);
  EXPECT_FALSE(lanes.settled());
  EXPECT_FALSE(lanes[1].turn.settled());
  lanes.settle(1);
  EXPECT_TRUE(lanes.settled());
  lanes.begin_turn(0, 0);  // a lane that retires asks for nothing
  EXPECT_TRUE(lanes.settled());
  EXPECT_EQ(served(lanes), Places{});
}

/// Remembers a word of each candidate.
class Words final : public Remembering<std::string> {
 public:
  Mode mode() const override { return Mode::asynchronous; }
  std::string name() const override { return "words"; }
  std::vector<std::string> ended;

 private:
  void do_ask(std::size_t n, Asked& out) override {
    for (; n > 0; --n) {
      const auto id = out.next();
      EXPECT_EQ(out.give({static_cast<double>(id)}, "word " + std::to_string(id)), id);
      EXPECT_EQ(memos().at(id), "word " + std::to_string(id)) << "it is there as soon as the candidate is given";
    }
  }
  void do_tell(EvaluationId id, std::string&& word, const Outcome&) override {
    EXPECT_FALSE(memos().contains(id));
    ended.push_back(word + " told");
  }
  void do_cancel(EvaluationId, std::string&& word) override { ended.push_back(word + " cancelled"); }
};

TEST(Remembering, gives_each_memo_back_with_the_end_of_its_candidate) {
  Words words;
  std::vector<Candidate> out(1);  // the candidate that was there before is left alone
  words.ask(2, out);
  words.ask(1, out);
  ASSERT_EQ(out.size(), 4u);
  for (EvaluationId id = 0; id < 3; ++id) {
    EXPECT_EQ(out[id + 1].id, id);
    EXPECT_EQ(out[id + 1].x, std::vector<double>{static_cast<double>(id)});
  }
  words.tell(2, Outcome::of_value(1));
  words.cancel(0);
  EXPECT_THROW(words.tell(2, Outcome::of_value(1)), InputError);
  words.tell(1, Outcome::of_value(1));
  EXPECT_THAT(words.ended, testing::ElementsAre("word 2 told", "word 0 cancelled", "word 1 told"));
  EXPECT_EQ(words.open(), 0u);
}
}  // namespace
}  // namespace culmen
