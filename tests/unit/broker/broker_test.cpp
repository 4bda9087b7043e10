#include <gtest/gtest.h>

#include "broker_table.hpp"

namespace culmen {
namespace {

TEST(Broker, tells_in_the_order_of_candidates_whatever_the_order_of_arrival) {
  Table t(with_budget(4));
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  t.answer(3);
  t.answer(1);
  EXPECT_TRUE(t.told.empty());
  t.answer(0);
  EXPECT_EQ(t.told, (std::vector<EvaluationId>{0, 1}));
  t.answer(0);
  EXPECT_EQ(t.told, (std::vector<EvaluationId>{0, 1, 2, 3}));
  EXPECT_EQ(t.stopped, StopReason::evaluations);
}

TEST(Broker, tells_in_the_order_of_arrival_when_not_generational) {
  auto options = with_budget(4);
  options.mode = Mode::asynchronous;
  Table t(options);
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  t.answer(2);
  EXPECT_EQ(t.told.size(), 1u);
}

TEST(Broker, asks_an_asynchronous_optimizer_for_no_more_than_it_hears_of) {
  auto options = with_budget(100);
  options.mode = Mode::asynchronous;
  Table t(options);
  t.start();
  for (WorkerId w = 0; w < 2; ++w) t.feed(Joined{w});
  t.answer(0);
  const auto before = t.asked;
  t.record_at_once = false;
  for (int i = 0; i < 3 && !t.sent.empty(); ++i) t.answer(0);
  EXPECT_EQ(t.asked, before);
  t.feed(Recorded{t.records});
  EXPECT_GT(t.asked, before);
  EXPECT_LE(t.asked, t.told.size() + 4);
}

TEST(Broker, waits_for_the_job_of_an_optimizer_that_gives_nothing_and_asks_again_when_it_is_adopted) {
  Table t(with_budget(10));
  t.generation = 0;
  t.start();
  t.feed(JobGiven{0});
  t.feed(Joined{0});
  EXPECT_EQ(t.started, std::vector<JobId>{0});
  EXPECT_EQ(t.asks, 1u);
  EXPECT_EQ(t.stopped, StopReason::none);
  t.generation = 5;
  t.feed(JobDone{0, true});
  EXPECT_EQ(t.adopted, std::vector<JobId>{0});
  EXPECT_EQ(t.asked, 5u);
  EXPECT_FALSE(t.sent.empty());
}

TEST(Broker, starts_a_job_again_that_a_former_master_did_not_see_the_end_of) {
  Table t(with_budget(10));
  t.broker.replay_job(3);
  t.broker.replay_adopt();
  t.broker.replay_job(4);
  t.start();
  EXPECT_EQ(t.started, std::vector<JobId>{4});
}

TEST(Broker, tells_nothing_before_it_is_durable) {
  Table t(with_budget(10));
  t.record_at_once = false;
  t.start();
  t.feed(Joined{0});
  t.answer(0);
  EXPECT_EQ(t.records, 1u);
  EXPECT_TRUE(t.told.empty());
  t.feed(Recorded{1});
  EXPECT_EQ(t.told.size(), 1u);
}

TEST(Broker, keeps_the_budget_exactly_with_more_workers_than_evaluations) {
  Table t(with_budget(5));
  t.start();
  for (WorkerId w = 0; w < 20; ++w) t.feed(Joined{w});
  EXPECT_EQ(t.asked, 5u);
  while (t.stopped == StopReason::none) t.answer(0);
  EXPECT_EQ(t.told.size(), 5u);
  EXPECT_EQ(t.stopped, StopReason::evaluations);
}

TEST(Broker, target_is_judged_in_the_order_of_candidates_and_the_rest_is_cancelled) {
  auto options = with_budget(100);
  options.rules.target = 0.5;
  options.prefetch = false;
  Table t(options);
  t.generation = 8;
  t.start();
  for (WorkerId w = 0; w < 8; ++w) t.feed(Joined{w});
  t.answer(2, 0.1);  // reaches the target, but candidates 0 and 1 come first
  EXPECT_EQ(t.stopped, StopReason::none);
  t.answer(0, 1);
  t.answer(0, 1);
  EXPECT_EQ(t.stopped, StopReason::target);
  EXPECT_EQ(t.told, (std::vector<EvaluationId>{0, 1, 2}));
  EXPECT_EQ(t.cancelled, (std::vector<EvaluationId>{3, 4, 5, 6, 7}));
}

TEST(Broker, what_a_former_master_cancelled_uses_up_no_budget) {
  Table t(with_budget(6));
  t.broker.replay_ask(4);
  t.broker.replay_tell(0, true, 1);
  for (EvaluationId id = 1; id < 4; ++id) t.broker.replay_cancel(id);
  t.asked = 4;
  t.start();
  t.feed(Joined{0});
  while (t.stopped == StopReason::none && !t.sent.empty()) t.answer(0);
  EXPECT_EQ(t.stopped, StopReason::evaluations);
  EXPECT_EQ(t.broker.counts().told, 6u);
}

TEST(Broker, wall_time_ends_at_its_deadline_and_cancels_nothing) {
  auto options = with_budget(0);
  options.rules.wall_time_s = 10;
  Table t(options);
  t.now = 100;
  t.start();
  t.feed(Joined{0});
  EXPECT_EQ(t.broker.deadline_s(), 110);
  t.now = 110;
  t.feed(Tick{});
  EXPECT_EQ(t.stopped, StopReason::wall_time);
  EXPECT_TRUE(t.cancelled.empty());
}

TEST(Broker, ends_when_the_optimizer_has_finished_and_all_is_told) {
  Table t(with_budget(0));
  t.source_left = 3;
  t.start();
  t.feed(Joined{0});
  while (t.stopped == StopReason::none && !t.sent.empty()) t.answer(0);
  EXPECT_EQ(t.stopped, StopReason::exhausted);
  EXPECT_EQ(t.told.size(), 3u);
}

TEST(Broker, an_open_ended_source_that_has_nothing_is_asked_again_once_it_offers) {
  auto options = with_budget(0);
  options.mode = Mode::asynchronous;
  options.open_ended = true;
  Table t(options);
  t.generation = 0;  // nothing to give
  t.start();
  t.feed(Joined{0});
  EXPECT_EQ(t.stopped, StopReason::none);
  EXPECT_EQ(t.asks, 1u);
  t.feed(Tick{});
  EXPECT_EQ(t.asks, 1u);
  t.generation = UINT64_MAX;
  t.source_left = 1;
  t.feed(Offered{});
  ASSERT_EQ(t.sent.size(), 1u);
  t.answer(0);
  EXPECT_EQ(t.stopped, StopReason::exhausted);
}

TEST(Broker, waits_for_the_generation_and_then_asks_for_the_next) {
  Table t(with_budget(100));
  t.generation = 4;
  t.start();
  for (WorkerId w = 0; w < 8; ++w) t.feed(Joined{w});
  EXPECT_EQ(t.sent.size(), 4u);
  for (int i = 0; i < 3; ++i) t.answer(0);
  EXPECT_EQ(t.asked, 4u);
  t.answer(0);
  EXPECT_EQ(t.asked, 8u);
}

TEST(Broker, asks_no_further_ahead_than_allowed_when_one_evaluation_hangs) {
  auto options = with_budget(0);
  options.ask_ahead = 1000;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.feed(Joined{1});
  for (int i = 0; i < 5000 && t.sent_to(1).size() > 0; ++i) {
    const auto at = std::find_if(t.sent.begin(), t.sent.end(), [](const Send& s) { return s.worker == 1; });
    t.answer(static_cast<std::size_t>(at - t.sent.begin()));
  }
  EXPECT_EQ(t.asked, 1000u);
}

TEST(Broker, asks_further_ahead_for_many_workers_so_that_they_need_not_wait_for_the_longest_evaluation) {
  auto options = with_budget(0);
  options.ask_ahead = 1000;
  Table t(options);
  t.start();
  for (WorkerId w = 0; w < 200; ++w) t.feed(Joined{w});
  for (int i = 0; i < 5000 && t.sent.size() > 1; ++i) t.answer(1);
  EXPECT_EQ(t.asked, 16u * 200);
}

TEST(Broker, fills_the_batches_of_workers_evenly_and_one_more_while_it_prefetches) {
  BrokerOptions options;
  options.batch = 4;
  Table table(options);
  table.source_left = 30;
  table.start();
  table.feed(Joined{0});
  table.feed(Joined{1});
  EXPECT_EQ(table.sent_to(0).size(), 4U);
  EXPECT_EQ(table.sent_to(1).size(), 4U);
  while (!table.sent.empty() && table.sent_to(0).size() <= 4) table.answer(0);
  EXPECT_EQ(table.sent_to(0).size(), 8U) << "evaluations are short";
  while (!table.sent.empty()) table.answer(0);
  EXPECT_EQ(table.told.size(), 30U);
}

}  // namespace
}  // namespace culmen
