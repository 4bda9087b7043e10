#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/worker/process/guard.hpp"
#include "unit/study/fake_launch.hpp"

namespace culmen {
namespace {

using ::testing::ThrowsMessage;
using State = RanksState;
using Event = RanksEvent;

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
  explicit SeveralNodes(std::vector<std::size_t> nodes = {0, 0, 1, 1, 1, 2, 2, 2}, std::size_t flat = most_flat_nodes)
      : launch_(std::move(nodes), flat) {
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
  FakeLaunch launch_;
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

/// Ten nodes with a relay and a worker each beside the master's: three of the relays talk to the master.
class ManyNodes : public SeveralNodes {
 protected:
  ManyNodes() : SeveralNodes(nodes(), 4) {}
  static std::vector<std::size_t> nodes() {
    std::vector<std::size_t> out{0, 0};
    for (std::size_t node = 1; node <= 10; ++node) out.insert(out.end(), {node, node});
    return out;
  }
};

TEST_F(ManyNodes, are_reached_through_other_nodes) {
  const auto crew = master_.hire({1, make_run_marker(), {}});
  EXPECT_EQ(crew->workers(), 11U);
  EXPECT_EQ(crew->nodes(), 11U);
  Gathered sink;
  while (sink.workers.size() < 11)
    if (!crew->transport().receive(sink)) crew->transport().sleep(1);
  crew->transport().close(10);
  crew->conclude({});
  EXPECT_EQ(states_.state(), State::waiting) << "nobody remained";
  master_.dismiss();
  for (auto& rank : ranks_) rank.join();
  ranks_.clear();  // only now, nobody writes
  EXPECT_EQ(launch_.peers.at({0, LineEnd::upper}), (std::vector{2, 6, 12, 16}));
  EXPECT_EQ(launch_.peers.at({2, LineEnd::lower}), (std::vector{0}));
  EXPECT_EQ(launch_.peers.at({2, LineEnd::upper}), (std::vector{4}));
  EXPECT_EQ(launch_.peers.at({4, LineEnd::lower}), (std::vector{2}));
  EXPECT_EQ(launch_.peers.at({10, LineEnd::lower}), (std::vector{6}));
  EXPECT_FALSE(launch_.peers.contains({4, LineEnd::upper})) << "nobody is behind it";
}

TEST_F(ManyNodes, can_be_one_team) {
  CrewRequest request{1, make_run_marker(), {}};
  request.teams = {11, TeamPlacement::any, 0};
  const auto crew = master_.hire(request);
  Gathered sink;
  while (sink.workers.empty())
    if (!crew->transport().receive(sink)) crew->transport().sleep(1);
  EXPECT_EQ(sink.workers, (std::set<WorkerId>{0})) << "all members have joined";
  crew->transport().close(10);
  crew->conclude({});
  master_.dismiss();
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
