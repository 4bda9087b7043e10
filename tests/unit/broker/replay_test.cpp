// A study that a former master began.
#include <gtest/gtest.h>

#include <algorithm>

#include "broker_table.hpp"

namespace culmen {
namespace {

TEST(Broker, replay_of_a_study_that_was_at_its_end_ends_at_once) {
  auto at_target = with_budget(100);
  at_target.rules.target = 1;
  for (const auto& options : {with_budget(2), at_target}) {
    Broker broker(options);
    broker.replay_ask(4);
    broker.replay_tell(0, true, 3);
    broker.replay_tell(1, true, 0.5);
    broker.replay_outcome(2, true, 2);
    std::vector<Action> actions;
    broker.start(0, actions);
    EXPECT_TRUE(broker.stopped());
    EXPECT_EQ(broker.counts().told, 2u);
    EXPECT_EQ(std::count_if(actions.begin(), actions.end(),
                            [](const Action& a) { return std::holds_alternative<Cancel>(a); }),
              2);
  }
}

TEST(Broker, an_asynchronous_replay_tells_nothing_that_it_has_cancelled) {
  auto at_target = with_budget(100);
  at_target.rules.target = 1;
  for (auto options : {with_budget(2), at_target}) {
    options.mode = Mode::asynchronous;
    Broker broker(options);
    broker.replay_ask(5);
    broker.replay_tell(0, true, 3);
    for (EvaluationId id = 1; id < 5; ++id) broker.replay_outcome(id, true, 0.5);
    std::vector<Action> actions;
    broker.start(0, actions);
    EXPECT_TRUE(broker.stopped());
    EXPECT_EQ(broker.counts().told, 2u);
    const auto tells = [](const Action& a) { return std::holds_alternative<Tell>(a); };
    const auto cancels = [](const Action& a) { return std::holds_alternative<Cancel>(a); };
    EXPECT_EQ(std::count_if(actions.begin(), actions.end(), tells), 1);
    EXPECT_EQ(std::count_if(actions.begin(), actions.end(), cancels), 3);
  }
}

TEST(Broker, replay_continues_with_what_was_open) {
  Broker broker(with_budget(6));
  broker.replay_ask(4);
  broker.replay_tell(0, true, 3);
  broker.replay_outcome(1, true, 2);
  std::vector<Action> actions;
  broker.start(0, actions);
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(std::get<Tell>(actions[0]).id, 1u);
  actions.clear();
  broker.on(Joined{0}, 0, actions);
  EXPECT_EQ(std::get<Send>(actions.at(1)).id, 2u);
}

}  // namespace
}  // namespace culmen
