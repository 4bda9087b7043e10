#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/study/crew/rank_protocol.hpp"
#include "culmen/worker/process/guard.hpp"
#include "line_in_memory.hpp"

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

/// A launch whose ranks are threads of this process. Their nodes are as a test says.
struct FakeLaunch {
  explicit FakeLaunch(std::vector<std::size_t> on_nodes = {0, 0})
      : nodes(std::move(on_nodes)), meeting(static_cast<std::ptrdiff_t>(nodes.size())), answers(nodes.size()) {
    const auto last = *std::ranges::max_element(nodes);
    ends = LineInMemory::make(last);
  }
  std::vector<std::size_t> nodes;
  std::barrier<> meeting;
  Bytes bytes;
  std::vector<std::string> answers;
  std::map<int, std::string> troubles;  // what a rank answers in place of its own answer
  std::vector<std::unique_ptr<LineInMemory>> ends;
  int broadcasts = 0;
  std::mutex mutex;  // of the following
  std::map<int, int> teams;
  int left = 0;
};

class FakeTeam final : public RankTeam {
 public:
  explicit FakeTeam(FakeLaunch& launch) : launch_(launch) {}
  int communicator() const override { return communicator_; }
  void renew() override { ++communicator_; }
  void leave() override {
    const std::lock_guard lock(launch_.mutex);
    ++launch_.left;
  }

 private:
  FakeLaunch& launch_;
  int communicator_ = 1000;
};

class FakeRank final : public RankGroup {
 public:
  FakeRank(FakeLaunch& launch, int rank) : launch_(launch), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(launch_.nodes.size()); }
  Bytes broadcast(Bytes bytes) override {
    if (rank_ == 0) {
      launch_.bytes = std::move(bytes);
      ++launch_.broadcasts;
    }
    barrier();
    auto copy = launch_.bytes;
    barrier();
    return copy;
  }
  std::vector<std::string> gather(const std::string& text) override {
    const auto trouble = launch_.troubles.find(rank_);
    launch_.answers[static_cast<std::size_t>(rank_)] = trouble == launch_.troubles.end() ? text : trouble->second;
    barrier();
    std::vector<std::string> texts;
    if (rank_ == 0) texts = launch_.answers;
    barrier();
    return texts;
  }
  void barrier() override { launch_.meeting.arrive_and_wait(); }
  std::vector<std::size_t> nodes() const override { return launch_.nodes; }
  std::unique_ptr<RankTeam> team(int number) override {
    const std::lock_guard lock(launch_.mutex);
    launch_.teams[rank_] = number;
    return number < 0 ? nullptr : std::make_unique<FakeTeam>(launch_);
  }
  std::unique_ptr<Line> line(std::vector<int>) override {
    return std::move(launch_.ends[rank_ == 0 ? 0 : launch_.nodes[static_cast<std::size_t>(rank_)]]);
  }

 private:
  FakeLaunch& launch_;
  const int rank_;
};

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
  master_.abandon("too late");
  EXPECT_EQ(launch_.broadcasts, sent) << "nobody listens any more";
  EXPECT_THAT(
      [&] {
        master_.hire({1, make_run_marker(), {}});
      },
      ThrowsMessage<InputError>(::testing::HasSubstr("have left the program")));
}

TEST_F(RankProtocol, waits_again_after_a_study_that_cannot_start) {
  let_rank_serve();
  master_.abandon("no such optimizer");
  master_.abandon("said already");
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

TEST_F(RankProtocol, gives_the_reason_to_a_rank_that_serves_one_study) {
  std::string why;
  rank_ = std::thread([&] {
    FakeRank group(launch_, 1);
    try {
      RankWorker(group, others_).serve({});
    } catch (const TransportError& error) {
      why = error.what();
    }
  });
  master_.abandon("no such optimizer");
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

TEST(RankLayout, names_relays_and_numbers_the_workers_by_node) {
  const RankLayout layout({0, 1, 2, 0, 1, 2, 1});
  EXPECT_EQ(layout.nodes(), 3U);
  EXPECT_EQ(layout.workers(), 4U);
  EXPECT_EQ(layout.relays(), (std::vector{1, 2}));
  EXPECT_EQ(layout.workers_of(0), (std::vector{3}));
  EXPECT_EQ(layout.workers_of(1), (std::vector{4, 6}));
  EXPECT_EQ(layout.first_worker(1), 1U);
  EXPECT_EQ(layout.first_worker(2), 3U);
  EXPECT_EQ(layout.box_of(6), 1U);
  EXPECT_FALSE(layout.is_relay(0));
  EXPECT_EQ(layout.fault(), "");
}

TEST(RankLayout, needs_a_worker_on_every_node_but_the_masters) {
  EXPECT_EQ(RankLayout({0, 1, 1}).fault(), "");
  EXPECT_THAT(RankLayout({0}).fault(), ::testing::HasSubstr("at least 2 ranks, a master and a worker"));
  EXPECT_THAT(RankLayout({0, 0, 1}).fault(), ::testing::HasSubstr("rank 2 is alone on its node"));
}

/// A master and a worker here, and a relay with two workers on each of two other nodes.
class SeveralNodes : public ::testing::Test {
 protected:
  SeveralNodes() {
    states_.on(Event::open);
    for (int rank = 1; rank < group_.size(); ++rank)
      ranks_.emplace_back([this, rank] {
        FakeRank group(launch_, rank);
        RanksStates states;
        states.on(Event::open);
        RankWorker(group, states).serve_until_dismissed();
      });
  }
  ~SeveralNodes() override {
    for (auto& rank : ranks_) rank.join();
  }
  FakeLaunch launch_{{0, 0, 1, 1, 1, 2, 2, 2}};
  FakeRank group_{launch_, 0};
  RanksStates states_;
  RankMaster master_{group_, states_};
  std::vector<std::thread> ranks_;
};

struct Gathered final : Transport::Sink {
  void joined(WorkerId worker) override { workers.insert(worker); }
  void arrived(WorkerId, const FrameHead&, BytesView) override {}
  void lost(WorkerId, const std::string&) override {}
  std::set<WorkerId> workers;
};

TEST_F(SeveralNodes, have_all_workers_in_one_transport) {
  const auto crew = master_.hire({1, make_run_marker(), {}});
  EXPECT_EQ(crew->workers(), 5U);
  EXPECT_EQ(crew->nodes(), 3U);
  Gathered sink;
  while (sink.workers.size() < 5)
    if (!crew->transport().receive(sink)) crew->transport().sleep(1);
  EXPECT_EQ(sink.workers, (std::set<WorkerId>{0, 1, 2, 3, 4}));
  crew->transport().close(10);
  crew->conclude({});
  EXPECT_EQ(states_.state(), State::waiting) << "nobody remained";
  master_.dismiss();
}

TEST_F(SeveralNodes, can_be_one_team) {
  const auto request = [](std::size_t size) {
    CrewRequest of_teams{1, make_run_marker(), {}};
    of_teams.teams = {size, TeamPlacement::any};
    return of_teams;
  };
  EXPECT_THAT([&] { master_.hire(request(2)); }, ThrowsMessage<InputError>(::testing::HasSubstr("team_size = 2")));
  const auto crew = master_.hire(request(5));
  EXPECT_EQ(crew->workers(), 1U);
  Gathered sink;
  while (sink.workers.empty())
    if (!crew->transport().receive(sink)) crew->transport().sleep(1);
  crew->transport().close(10);
  crew->conclude({});
  master_.dismiss();
  for (auto& rank : ranks_) rank.join();
  ranks_.clear();
  const std::map<int, int> teams{{0, -1}, {1, 0}, {2, -1}, {3, 0}, {4, 0}, {5, -1}, {6, 0}, {7, 0}};
  EXPECT_EQ(launch_.teams, teams);
  EXPECT_EQ(launch_.left, 5);
}

TEST_F(SeveralNodes, start_nothing_if_a_relay_cannot) {
  launch_.troubles[5] = "no shared memory there";
  EXPECT_THAT(
      [&] {
        master_.hire({1, make_run_marker(), {}});
      },
      ThrowsMessage<TransportError>("rank 5: no shared memory there"));
  launch_.troubles = {{7, "cannot attach"}};
  EXPECT_THAT(
      [&] {
        master_.hire({1, make_run_marker(), {}});
      },
      ThrowsMessage<TransportError>("rank 7: cannot attach"));
  launch_.troubles.clear();
  master_.dismiss();
}

}  // namespace
}  // namespace culmen
