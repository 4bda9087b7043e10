// Which ranks are a team, and what the answers of its members mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "culmen/base/error.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/study/crew/team_rules.hpp"
#include "culmen/study/crew/workplace.hpp"

namespace culmen::in_teams {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using Ids = std::vector<WorkerId>;

TeamLayout layout(const std::vector<std::size_t>& nodes, std::size_t size,
                  TeamPlacement placement = TeamPlacement::node) {
  return {RankLayout(nodes), {size, placement}};
}

void refused(const std::vector<std::size_t>& nodes, std::size_t size, TeamPlacement placement, const char* why) {
  EXPECT_THAT([&] { layout(nodes, size, placement); }, ThrowsMessage<InputError>(HasSubstr(why)));
}

TEST(TeamLayout, takes_ranks_in_their_order) {
  const auto found = layout({0, 0, 0, 0, 0}, 2);
  EXPECT_THAT(found.teams(), ElementsAre(Ids{0, 1}, Ids{2, 3}));
  EXPECT_EQ(found.team_of_rank(), (std::vector{-1, 0, 0, 1, 1}));
  EXPECT_EQ(found.rank_of(3), 4);
}

TEST(TeamLayout, keeps_a_team_on_one_node_or_lets_it_span_several) {
  const std::vector<std::size_t> nodes{0, 0, 0, 1, 1, 1};
  EXPECT_EQ(layout(nodes, 2).team_of_rank(), (std::vector{-1, 0, 0, -1, 1, 1}));
  EXPECT_EQ(layout(nodes, 4, TeamPlacement::any).team_of_rank(), (std::vector{-1, 0, 0, -1, 0, 0}));
}

TEST(TeamLayout, orders_members_as_their_communicator_does) {
  const auto found = layout({0, 1, 0, 1, 0, 1}, 4, TeamPlacement::any);  // ranks 2 and 4 here, 3 and 5 there
  EXPECT_THAT(found.teams(), ElementsAre(Ids{0, 2, 1, 3}));
}

TEST(TeamLayout, says_how_many_ranks_would_do) {
  refused({0, 0, 0, 0}, 2, TeamPlacement::node, "does not divide the 3 ranks that work (rank 0 is the master)");
  refused({0, 0, 0, 0}, 2, TeamPlacement::node, "start 3 or 5 ranks");
  refused({0, 0}, 4, TeamPlacement::any, "team_size = 4 does not divide the 1 rank that works (rank 0 is the master)");
  refused({0, 0}, 4, TeamPlacement::any, "start 5 ranks");
  refused({0, 0, 0, 1, 1, 1, 1}, 2, TeamPlacement::node,
          "the 3 ranks that work on node 2, and a team stays on one node");
  refused({0, 0, 0, 1, 1, 1, 1}, 2, TeamPlacement::node, "start 3 or 5 ranks there, or write team_placement = \"any\"");
  refused({0, 0, 1, 1, 1}, 2, TeamPlacement::any, "2 other ranks are the master and relays");
}

Bytes answer(const Outcome& outcome) {
  Bytes out;
  ByteWriter(out).u64(77);
  encode(outcome, out);
  return out;
}

Outcome outcome_in(BytesView body) {
  EXPECT_EQ(ByteReader(body).u64(), 77U);
  Outcome outcome;
  decode(body.subspan(8), outcome);
  return outcome;
}

FrameHead head(FrameKind kind) {
  FrameHead out;
  out.kind = kind;
  return out;
}

class Rules : public testing::Test {
 protected:
  std::unique_ptr<TeamRules> rules = make_team_rules(layout({0, 1, 1, 1}, 2), 2.5);
  FrameHead result = head(FrameKind::result), hello = head(FrameKind::hello);
  Bytes sentence = [] {
    Bytes out;
    ByteWriter(out).raw("no file", 7);
    return out;
  }();
};

TEST_F(Rules, know_failures) {
  EXPECT_FALSE(rules->is_failure(0, result, answer(Outcome::of_value(3))));
  EXPECT_TRUE(rules->is_failure(0, result, answer(Outcome::failure(Status::failed, "bad"))));
  EXPECT_FALSE(rules->is_failure(0, hello, {}));
  EXPECT_TRUE(rules->is_failure(0, hello, sentence));
  EXPECT_TRUE(rules->is_failure(1, head(FrameKind::trouble), sentence));
}

TEST_F(Rules, need_a_result_of_the_first_rank_only) {
  for (const auto status : {Status::wrong_shape, Status::not_finite, Status::failed}) {
    const auto body = answer(Outcome::failure(status, ""));
    EXPECT_TRUE(rules->is_failure(0, result, body));
    EXPECT_EQ(rules->is_failure(1, result, body), status == Status::failed);
  }
}

TEST_F(Rules, name_the_rank_that_failed) {
  const auto failed = rules->failure(0, result, answer(Outcome::failure(Status::wrong_shape, "bad")));
  EXPECT_EQ(outcome_in(failed).message, "rank 2: bad");
  EXPECT_EQ(outcome_in(failed).status, Status::wrong_shape);
  EXPECT_EQ(text_in(rules->failure(1, hello, sentence)), "rank 3: no file");
}

TEST_F(Rules, answer_for_members_that_take_too_long) {
  Candidate candidate{4, {1, 2}};
  Bytes request;
  encode(candidate, request);
  const auto body = rules->overdue(request);
  EXPECT_EQ(ByteReader(body).u64(), hash_of(candidate));
  Outcome outcome;
  decode(BytesView(body).subspan(8), outcome);
  EXPECT_EQ(outcome.status, Status::timed_out);
  EXPECT_EQ(outcome.message, "the time limit of 2.5 s was exceeded");
}

TEST_F(Rules, say_who_hangs_and_why) {
  const TeamRules::Answer failed{0, result, answer(Outcome::failure(Status::failed, "ValueError: bad\n  File …"))};
  EXPECT_EQ(rules->why_given_up(failed, {1}, 30),
            "rank 2 ended its part of an evaluation with 'ValueError: bad', but rank 3 of its team did not return "
            "within 30 s");
  EXPECT_EQ(rules->why_given_up({}, {0, 1}, 2.5), "ranks 2, 3 did not end an evaluation within 2.5 s");
}

void unsuited(const WorkersWanted& wanted, const EvaluatorSpec& spec, const char* why) {
  EXPECT_THAT([&] { check_teams(wanted, spec); }, ThrowsMessage<InputError>(HasSubstr(why)));
}

TEST(Teams, need_ranks_and_a_function_that_the_ranks_can_call) {
  EvaluatorSpec library, command, batch, variables;
  library.how = LibrarySpec{"lib.so:f"};
  command.how = CommandSpec{{"true"}};
  batch.how.emplace<PythonSpec>().batch = 4;
  variables = library;
  variables.environment["A"] = "1";
  WorkersWanted wanted;
  EXPECT_NO_THROW(check_teams(wanted, command));
  wanted.team_size = 4;
  unsuited(wanted, library, "team_size = 4: teams consist of the ranks of an MPI launch");
  wanted.place = "mpi";
  EXPECT_NO_THROW(check_teams(wanted, library));
  unsuited(wanted, command, "an external program cannot be evaluated by a team");
  unsuited(wanted, batch, "remove batch");
  unsuited(wanted, variables, "remove environment and modules");
  wanted.listening.address = "tcp://127.0.0.1:1";
  unsuited(wanted, library, "workers that join over a network cannot be in a team");
}

}  // namespace
}  // namespace culmen::in_teams
