// How the members of "auto" hear of each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/optimizer/combine/automatic/constrained.hpp"
#include "culmen/optimizer/combine/automatic/descents_first.hpp"
#include "culmen/optimizer/combine/automatic/lead.hpp"
#include "culmen/optimizer/combine/automatic/model_first.hpp"

namespace culmen::automatic {
namespace {
using testing::ElementsAre, testing::IsEmpty;
using Point = std::vector<double>;

/// Remembers what it hears.
class Listener final : public Optimizer {
 public:
  explicit Listener(std::vector<double>& heard) : heard_(heard) {}
  Mode mode() const override { return Mode::generational; }
  std::string name() const override { return "listener"; }
  void hear(const Point& /*x*/, const Outcome& outcome) override { heard_.push_back(outcome.value); }

 private:
  void do_ask(std::size_t /*n*/, std::vector<Candidate>& /*out*/) override {}
  void do_tell(EvaluationId /*id*/, const Outcome& /*outcome*/) override {}
  void do_cancel(EvaluationId /*id*/) override {}
  std::vector<double>& heard_;
};

Member listening(std::vector<double>& heard) { return {"listener", std::make_unique<Listener>(heard)}; }

void found(Member& member, double value) {
  member.best = Outcome::of_value(value);
  member.best_x = {value};
}

constexpr std::size_t n = 2;
constexpr std::uint64_t three_turns = 3 * (n + 1);

TEST(Lead, hands_the_best_of_the_global_search_on_where_it_is_news_and_not_too_often) {
  std::vector<double> heard, unheard;
  auto leader = listening(heard), global = listening(unheard);
  Lead lead(n);
  leader.asked = 100;
  found(leader, 5);
  lead.learn(leader);
  found(global, 3);
  lead.hand_over(leader, global);
  EXPECT_THAT(heard, ElementsAre(3));
  found(global, 2);
  lead.hand_over(leader, global);
  EXPECT_THAT(heard, ElementsAre(3)) << "too soon";
  leader.asked += three_turns;
  lead.hand_over(leader, global);
  EXPECT_THAT(heard, ElementsAre(3, 2));
  leader.asked += three_turns;
  lead.hand_over(leader, global);
  EXPECT_THAT(heard, ElementsAre(3, 2)) << "no news";
  EXPECT_THAT(unheard, IsEmpty());
}

template <typename Effort>
std::vector<double> heard_by_descents(Effort&& effort) {
  std::vector<double> heard, others;
  std::vector<Member> members;
  for (std::size_t k = 0; k < Effort::members; ++k)
    members.push_back(listening(k == Effort::descents ? heard : others));
  members[Effort::descents].asked = 100;
  found(members[Effort::global], 3);
  effort.learn(members, Effort::global, {3}, Outcome::of_value(3));
  return heard;
}

TEST(Lead, descents_hear_what_the_global_search_found) {
  const Probe probe(Space{real("x", 0, 1), real("y", 0, 1)}, 1, Mode::generational);
  EXPECT_THAT(heard_by_descents(DescentsFirst(n, probe, {})), ElementsAre(3));
  EXPECT_THAT(heard_by_descents(ConstrainedDescentsFirst(n)), ElementsAre(3));
}

TEST(ModelFirst, all_hear_of_a_new_best_but_the_one_that_found_it) {
  std::vector<double> model, second, third;
  std::vector<Member> members;
  members.push_back(listening(model));
  ModelFirst effort(n, [&](const Point& /*best*/) {
    std::vector<Member> joining;
    joining.push_back(listening(second));
    joining.push_back(listening(third));
    return joining;
  });
  const auto told = [&](std::size_t member, double value) {
    effort.learn(members, member, {value}, Outcome::of_value(value));
    effort.next(members);
  };
  members[0].asked = ModelFirst::lead(n);
  told(0, 9);
  EXPECT_THAT(model, IsEmpty());
  EXPECT_THAT(second, ElementsAre(9)) << "as it joins";
  told(1, 5);
  told(2, 7);
  told(2, 4);
  EXPECT_THAT(model, ElementsAre(5, 4));
  EXPECT_THAT(second, ElementsAre(9, 4));
  EXPECT_THAT(third, ElementsAre(9, 5));
}
}  // namespace
}  // namespace culmen::automatic
