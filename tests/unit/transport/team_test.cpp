// Teams: how the answers of members become one, and what happens if they do not all come.
#include "culmen/transport/team/team_transport.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "culmen/transport/team/team_endpoint.hpp"

namespace culmen::in_teams {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

Bytes bytes(const std::string& text) {
  Bytes out;
  ByteWriter(out).raw(text.data(), text.size());
  return out;
}

FrameHead head(FrameKind kind, EvaluationId evaluation = 7) {
  FrameHead out;
  out.kind = kind;
  out.evaluation = evaluation;
  return out;
}

const char* word(FrameKind kind) {
  switch (kind) {
    case FrameKind::set_up:
      return "set-up";
    case FrameKind::hello:
      return "hello";
    case FrameKind::evaluate:
      return "evaluate";
    case FrameKind::result:
      return "result";
    case FrameKind::trouble:
      return "trouble";
    case FrameKind::renew:
      return "renew";
  }
  return "?";
}

/// Its events are what a test says; it notes what is sent, and its last grace.
class Members final : public Transport {
 public:
  void send(WorkerId worker, const FrameHead& head, BytesView) override {
    sent.push_back(std::string(word(head.kind)) + " to " + std::to_string(worker));
  }
  bool receive(Sink& sink) override {
    const auto now = std::exchange(events, {});
    for (const auto& event : now) event(sink);
    return !now.empty();
  }
  void sleep(double at_most_s) override { slept_s = at_most_s; }
  void wake() noexcept override {}
  void close(double grace) override { grace_s = grace; }

  std::vector<std::function<void(Sink&)>> events;
  std::vector<std::string> sent;
  double slept_s = -1, grace_s = -1;
};

class Listener final : public Transport::Sink {
 public:
  void joined(WorkerId team) override { add("joined", team, ""); }
  void arrived(WorkerId team, const FrameHead& head, BytesView body) override {
    add(word(head.kind), team, text_in(body));
  }
  void leaving(WorkerId team) override { add("leaving", team, ""); }
  void lost(WorkerId team, const std::string& why) override { add("lost", team, why); }
  std::vector<std::string> seen;

 private:
  void add(const std::string& what, WorkerId team, const std::string& more) {
    seen.push_back(what + " " + std::to_string(team) + (more.empty() ? "" : " " + more));
  }
};

/// Answers that begin with "bad" are failures.
class Rules final : public TeamRules {
 public:
  bool is_failure(WorkerId, const FrameHead&, BytesView body) const override {
    return text_in(body).starts_with("bad");
  }
  Bytes failure(WorkerId member, const FrameHead&, BytesView body) const override {
    return bytes(std::to_string(member) + ":" + text_in(body));
  }
  Bytes overdue(BytesView request) const override { return bytes("overdue " + text_in(request)); }
  std::string why_given_up(const std::optional<Answer>& failed, const std::vector<WorkerId>& silent,
                           double waited_s) const override {
    auto why = failed ? std::to_string(failed->member) + " failed, " : std::string();
    for (const auto worker : silent) why += std::to_string(worker) + " ";
    return why + "silent for " + std::to_string(std::lround(waited_s));
  }
};

struct TestClock final : Clock {
  explicit TestClock(double& now) : now_s_(now) {}
  double now_s() const override { return now_s_; }
  double& now_s_;
};

/// Two teams: workers 0, 1, 2 and workers 3, 4, 5.
class TeamTransportTest : public testing::Test {
 protected:
  void SetUp() override { make({}); }
  void make(TeamPatience patience) {
    teams.emplace(members, TeamTransport::Teams{{0, 1, 2}, {3, 4, 5}}, std::make_unique<Rules>(), patience,
                  std::make_unique<TestClock>(now_s));
    for (WorkerId worker = 0; worker < 6; ++worker)
      members.events.push_back([=](Transport::Sink& sink) { sink.joined(worker); });
    look();
    listener.seen.clear();
  }
  void look() { teams->receive(listener); }
  void answer(WorkerId worker, const std::string& text, FrameKind kind = FrameKind::result) {
    members.events.push_back([=](Transport::Sink& sink) { sink.arrived(worker, head(kind), bytes(text)); });
    look();
  }
  void lose(WorkerId worker) {
    members.events.push_back([=](Transport::Sink& sink) { sink.lost(worker, "gone"); });
    look();
  }
  void evaluate(WorkerId team) {
    teams->send(team, head(FrameKind::evaluate), bytes("x"));
    members.sent.clear();
  }

  double now_s = 100;
  Members members;
  Listener listener;
  std::optional<TeamTransport> teams;
};

TEST_F(TeamTransportTest, a_team_joins_with_its_last_member) {
  Listener other;
  TeamTransport fresh(members, {{0, 1}}, std::make_unique<Rules>(), {});
  for (const WorkerId worker : {0U, 1U}) {
    EXPECT_THAT(other.seen, IsEmpty());
    members.events.push_back([=](Transport::Sink& sink) { sink.joined(worker); });
    fresh.receive(other);
  }
  EXPECT_THAT(other.seen, ElementsAre("joined 0"));
}

TEST_F(TeamTransportTest, every_member_gets_every_frame_in_the_same_order) {
  teams->send(1, head(FrameKind::set_up), {});
  teams->send(1, head(FrameKind::evaluate), {});
  EXPECT_THAT(members.sent, ElementsAre("set-up to 3", "set-up to 4", "set-up to 5", "evaluate to 3", "evaluate to 4",
                                        "evaluate to 5"));
}

TEST_F(TeamTransportTest, the_answer_is_that_of_the_first_member_once_all_have_answered) {
  evaluate(0);
  for (const WorkerId worker : {2U, 0U}) answer(worker, "of " + std::to_string(worker));
  EXPECT_THAT(listener.seen, IsEmpty());
  answer(1, "of 1");
  EXPECT_THAT(listener.seen, ElementsAre("result 0 of 0"));
  EXPECT_THAT(members.sent, IsEmpty()) << "the communicator is as it was";
}

TEST_F(TeamTransportTest, the_first_failure_is_the_answer_and_the_members_get_another_communicator) {
  evaluate(0);
  answer(2, "bad idea");
  answer(1, "bad follows");
  EXPECT_THAT(listener.seen, IsEmpty()) << "the others may still use the communicator";
  answer(0, "fine");
  EXPECT_THAT(listener.seen, ElementsAre("result 0 2:bad idea"));
  EXPECT_THAT(members.sent, ElementsAre("renew to 0", "renew to 1", "renew to 2"));
  evaluate(0);
  for (const WorkerId worker : {0U, 1U, 2U}) answer(worker, "of " + std::to_string(worker));
  EXPECT_EQ(listener.seen.back(), "result 0 of 0");
}

TEST_F(TeamTransportTest, a_set_up_that_fails_needs_no_other_communicator) {
  teams->send(0, head(FrameKind::set_up), {});
  members.sent.clear();
  for (const WorkerId worker : {0U, 1U, 2U}) answer(worker, worker == 1 ? "bad file" : "", FrameKind::hello);
  EXPECT_THAT(listener.seen, ElementsAre("hello 0 1:bad file"));
  EXPECT_THAT(members.sent, IsEmpty());
}

TEST_F(TeamTransportTest, members_that_stay_silent_after_a_failure_are_given_up) {
  evaluate(0);
  evaluate(1);
  now_s = 105;
  answer(1, "bad idea");
  now_s = 134;
  look();
  EXPECT_THAT(listener.seen, IsEmpty());
  teams->sleep(60);
  EXPECT_DOUBLE_EQ(members.slept_s, 1);
  now_s = 135;
  look();
  EXPECT_THAT(listener.seen, ElementsAre("leaving 0", "result 0 1:bad idea", "lost 0 1 failed, 0 2 silent for 30"));
  answer(0, "late");
  lose(2);
  teams->send(0, head(FrameKind::evaluate), {});
  EXPECT_EQ(listener.seen.size(), 3U);
  EXPECT_THAT(members.sent, IsEmpty());
  for (const WorkerId worker : {3U, 4U, 5U}) answer(worker, "fine");
  EXPECT_EQ(listener.seen.back(), "result 1 fine") << "the other team goes on";
}

TEST_F(TeamTransportTest, the_others_may_take_twice_as_long_as_the_longest_evaluation) {
  evaluate(0);
  now_s += 40;
  for (const WorkerId worker : {0U, 1U, 2U}) answer(worker, "fine");
  evaluate(0);
  answer(0, "bad idea");
  now_s += 79;
  look();
  EXPECT_THAT(listener.seen, ElementsAre("result 0 fine"));
  now_s += 1;
  look();
  EXPECT_EQ(listener.seen.back(), "lost 0 0 failed, 1 2 silent for 80");
}

TEST_F(TeamTransportTest, a_time_limit_counts_from_the_start_of_the_evaluation) {
  make({.time_limit_s = 8});
  evaluate(0);
  now_s = 107;
  answer(1, "bad idea");
  now_s = 108;
  look();
  EXPECT_THAT(listener.seen, ElementsAre("leaving 0", "result 0 1:bad idea", "lost 0 1 failed, 0 2 silent for 8"));
  evaluate(1);
  now_s = 116;
  look();
  EXPECT_EQ(listener.seen.at(4), "result 1 overdue x");
  EXPECT_EQ(listener.seen.at(5), "lost 1 3 4 5 silent for 8");
}

TEST_F(TeamTransportTest, a_team_is_lost_with_its_first_member) {
  evaluate(0);
  answer(0, "fine");
  lose(2);
  lose(1);
  EXPECT_THAT(listener.seen, ElementsAre("lost 0 gone"));
}

TEST_F(TeamTransportTest, a_team_is_lost_with_a_member_that_ended_before_the_others_joined) {
  Listener other;
  TeamTransport fresh(members, {{0, 1}}, std::make_unique<Rules>(), {});
  members.events.push_back([](Transport::Sink& sink) { sink.joined(0); });
  members.events.push_back([](Transport::Sink& sink) { sink.lost(0, "gone"); });
  members.events.push_back([](Transport::Sink& sink) { sink.joined(1); });
  fresh.receive(other);
  EXPECT_THAT(other.seen, ElementsAre("joined 0", "lost 0 gone"));
}

TEST_F(TeamTransportTest, what_a_member_answered_before_it_was_lost_counts) {
  evaluate(0);
  answer(2, "fine");
  lose(2);
  answer(0, "of 0");
  EXPECT_THAT(listener.seen, IsEmpty());
  answer(1, "fine");
  EXPECT_THAT(listener.seen, ElementsAre("result 0 of 0", "lost 0 gone"));
}

TEST_F(TeamTransportTest, the_end_of_a_study_waits_for_evaluations_but_not_for_members_that_hang) {
  evaluate(0);
  members.events.push_back([](Transport::Sink& sink) {
    for (const WorkerId worker : {0U, 1U, 2U}) sink.arrived(worker, head(FrameKind::result), {});
  });
  constexpr auto forever_s = std::numeric_limits<double>::infinity();
  teams->close(forever_s);
  EXPECT_EQ(members.grace_s, forever_s);
  EXPECT_THAT(listener.seen, IsEmpty());
  evaluate(1);
  answer(3, "bad idea");
  now_s += 31;
  teams->close(forever_s);
  EXPECT_EQ(members.grace_s, 1);
  teams->close(0.1);
  EXPECT_EQ(members.grace_s, 0.1);
}

/// Has these frames.
class Frames final : public Endpoint {
 public:
  explicit Frames(std::vector<FrameKind> kinds) : kinds_(std::move(kinds)) {}
  bool receive(FrameHead& out, Bytes& body) override { return try_receive(out, body); }
  bool try_receive(FrameHead& out, Bytes&) override {
    if (kinds_.empty()) return false;
    out = head(kinds_.front());
    kinds_.erase(kinds_.begin());
    return true;
  }
  bool send(const FrameHead&, BytesView) override { return true; }
  void wait_closed() override {}
  void release() noexcept override {}
  bool closed() const noexcept override { return false; }

 private:
  std::vector<FrameKind> kinds_;
};

TEST(TeamEndpoint, renews_before_the_next_frame_reaches_the_worker) {
  Frames frames({FrameKind::evaluate, FrameKind::renew, FrameKind::renew, FrameKind::evaluate, FrameKind::renew});
  int renewals = 0;
  TeamEndpoint endpoint(frames, [&] { ++renewals; });
  FrameHead got;
  Bytes body;
  EXPECT_TRUE(endpoint.receive(got, body));
  EXPECT_EQ(renewals, 0);
  EXPECT_TRUE(endpoint.try_receive(got, body));
  EXPECT_EQ(got.kind, FrameKind::evaluate);
  EXPECT_EQ(renewals, 2);
  EXPECT_FALSE(endpoint.receive(got, body));
  EXPECT_EQ(renewals, 3);
}

}  // namespace
}  // namespace culmen::in_teams
