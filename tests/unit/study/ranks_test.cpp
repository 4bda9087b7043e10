#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/rank_protocol.hpp"
#include "culmen/worker/process/guard.hpp"
#include "unit/study/fake_launch.hpp"

namespace culmen {
namespace {

using ::testing::ThrowsMessage;
using State = RanksState;
using Event = RanksEvent;

constexpr auto first_event = Event::open, last_event = Event::end;
Event after(Event event) { return static_cast<Event>(static_cast<int>(event) + 1); }

const std::map<State, std::vector<Event>> ways{
    {State::closed, {}},
    {State::waiting, {Event::open}},
    {State::invited, {Event::open, Event::invite}},
    {State::working, {Event::open, Event::invite, Event::accept}},
    {State::refused, {Event::open, Event::abandon}},
    {State::dismissed, {Event::open, Event::dismiss}},
    {State::stuck, {Event::open, Event::invite, Event::accept, Event::lose}},
    {State::ended, {Event::end}},
};

using Moves = std::map<std::pair<State, Event>, State>;
const Moves moves{
    {{State::closed, Event::open}, State::waiting},       {{State::closed, Event::end}, State::ended},
    {{State::waiting, Event::abandon}, State::refused},   {{State::waiting, Event::invite}, State::invited},
    {{State::waiting, Event::dismiss}, State::dismissed}, {{State::waiting, Event::end}, State::ended},
    {{State::invited, Event::expect}, State::waiting},    {{State::invited, Event::accept}, State::working},
    {{State::invited, Event::decline}, State::refused},   {{State::invited, Event::dismiss}, State::dismissed},
    {{State::invited, Event::end}, State::ended},         {{State::working, Event::conclude}, State::waiting},
    {{State::working, Event::lose}, State::stuck},        {{State::working, Event::end}, State::ended},
    {{State::refused, Event::expect}, State::waiting},    {{State::refused, Event::invite}, State::invited},
    {{State::refused, Event::dismiss}, State::dismissed}, {{State::refused, Event::end}, State::ended},
    {{State::dismissed, Event::end}, State::ended},
};

RanksStates in(State state) {
  RanksStates states;
  for (const auto event : ways.at(state)) EXPECT_TRUE(states.on(event));
  EXPECT_EQ(states.state(), state);
  return states;
}

TEST(RanksStates, every_event_in_every_state_does_what_the_table_says) {
  for (const auto& [state, way] : ways) {
    for (auto event = first_event; event <= last_event; event = after(event)) {
      auto states = in(state);
      const auto move = moves.find({state, event});
      EXPECT_EQ(states.on(event), move != moves.end());
      EXPECT_EQ(states.state(), move != moves.end() ? move->second : state)
          << "state " << static_cast<int>(state) << ", event " << static_cast<int>(event);
    }
  }
}

TEST(RanksStates, the_last_study_dismisses_whether_it_ran_or_not) {
  for (const auto& [from, event] : {std::pair{State::waiting, Event::abandon},
                                    {State::invited, Event::decline},
                                    {State::working, Event::conclude}}) {
    auto states = in(from);
    states.expect_the_last();
    EXPECT_TRUE(states.on(event));
    EXPECT_EQ(states.state(), State::dismissed);
    EXPECT_FALSE(states.on(Event::invite));
  }
}

class RankProtocol : public ::testing::Test {
 protected:
  RankProtocol() {
    states_.on(Event::open);
    others_.on(Event::open);
  }
  ~RankProtocol() override {
    if (rank_.joinable()) rank_.join();
  }
  void let_rank_serve() {
    rank_ = std::thread([this] {
      FakeRank group(launch_, 1);
      RankWorker(group, others_).serve_until_dismissed();
    });
  }
  void run_a_study() {
    const auto crew = master_.hire({1, make_run_marker(), {}});
    EXPECT_EQ(states_.state(), State::working);
    EXPECT_EQ(crew->workers(), 1U);
    crew->transport().close(10);
    crew->conclude({});
  }

  FakeLaunch launch_;
  FakeRank group_{launch_, 0};
  RanksStates states_, others_;
  RankMaster master_{group_, states_};
  std::thread rank_;
};

TEST_F(RankProtocol, serves_study_after_study_until_it_is_dismissed) {
  let_rank_serve();
  run_a_study();
  EXPECT_EQ(states_.state(), State::waiting);
  run_a_study();
  master_.dismiss();
  rank_.join();
  EXPECT_EQ(states_.state(), State::dismissed);
  EXPECT_EQ(others_.state(), State::dismissed);
}

TEST_F(RankProtocol, leaves_with_the_result_of_the_last_study) {
  let_rank_serve();
  states_.expect_the_last();
  run_a_study();
  rank_.join();
  EXPECT_EQ(states_.state(), State::dismissed);
  const auto sent = launch_.broadcasts;
  master_.dismiss();
  master_.abandon({"too late"});
  EXPECT_EQ(launch_.broadcasts, sent) << "nobody listens any more";
  EXPECT_THAT(
      [&] {
        master_.hire({1, make_run_marker(), {}});
      },
      ThrowsMessage<InputError>(::testing::HasSubstr("have left the program")));
}

TEST_F(RankProtocol, waits_again_after_a_study_that_cannot_start) {
  let_rank_serve();
  master_.abandon({"no such optimizer"});
  master_.abandon({"said already"});
  EXPECT_EQ(launch_.broadcasts, 1);
  states_.on(Event::expect);
  launch_.troubles[1] = "no shared memory";
  EXPECT_THAT(
      [&] {
        master_.hire({1, make_run_marker(), {}});
      },
      ThrowsMessage<TransportError>("rank 1: no shared memory"));
  EXPECT_EQ(states_.state(), State::refused);
  launch_.troubles.clear();
  run_a_study();
  master_.dismiss();
}

TEST_F(RankProtocol, gives_the_error_to_a_rank_that_serves_one_study) {
  std::string why;
  rank_ = std::thread([&] {
    FakeRank group(launch_, 1);
    try {
      RankWorker(group, others_).serve({});
    } catch (const InputError& error) {
      why = error.what();
    }
  });
  master_.abandon({"no such optimizer", Refusal::Kind::input});
  rank_.join();
  EXPECT_EQ(why, "no such optimizer");
}

TEST_F(RankProtocol, hires_ranks_once_at_a_time) {
  let_rank_serve();
  {
    const auto crew = master_.hire({1, make_run_marker(), {}});
    EXPECT_THAT(
        [&] {
          master_.hire({1, make_run_marker(), {}});
        },
        ThrowsMessage<InputError>(::testing::HasSubstr("already work for another study or executor")));
    master_.dismiss();
    EXPECT_EQ(states_.state(), State::working) << "the ranks are still in use";
    crew->transport().close(10);
    crew->conclude({});
  }
  master_.dismiss();
}

}  // namespace
}  // namespace culmen
