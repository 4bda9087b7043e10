// Lost workers, failed evaluations, and the ends that they cause.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "broker_table.hpp"

namespace culmen {
namespace {

BrokerOptions needs_no_workers() {
  auto options = with_budget(50);
  options.needs_workers = false;
  return options;
}

/// One worker after the other is lost at the same evaluation.
void lose(Table& t, WorkerId workers, EvaluationId at, bool to_blame) {
  for (WorkerId w = 0; w < workers; ++w) {
    EXPECT_EQ(t.sent_to(w).at(0).id, at);
    t.feed(Lost{w, to_blame});
    t.feed(Joined{w + 1});
  }
}

TEST(Broker, stops_with_an_error_when_a_job_fails) {
  Table t(with_budget(10));
  t.start();
  t.feed(JobGiven{0});
  t.feed(JobDone{0, false});
  EXPECT_EQ(t.stopped, StopReason::error);
  EXPECT_TRUE(t.adopted.empty());
}

TEST(Broker, work_of_a_lost_worker_goes_elsewhere_as_a_new_attempt) {
  Table t(with_budget(2));
  t.start();
  t.feed(Joined{0});
  t.feed(Joined{1});
  const auto first = t.sent_to(0).at(0);
  t.feed(Lost{0});
  t.answer(1);
  const auto again = t.sent_to(1).at(0);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(again.attempt, 1u);
  EXPECT_EQ(t.broker.counts().lost, 1u);
}

TEST(Broker, a_worker_that_leaves_gets_no_more_work) {
  Table t(with_budget(4));
  t.start();
  t.feed(Joined{0});
  t.feed(Joined{1});
  const auto last = t.sent_to(0).at(0).id;
  t.feed(Leaving{0});
  t.feed(Leaving{0});
  t.answer(0);
  EXPECT_TRUE(t.sent_to(0).empty()) << "evaluation " << last << " was its last one";
  t.feed(Lost{0});
  EXPECT_EQ(t.broker.counts().lost, 0u);
  while (t.stopped == StopReason::none) t.answer(0);
  EXPECT_EQ(t.stopped, StopReason::evaluations);
  t.feed(Leaving{9});
}

TEST(Broker, only_the_evaluation_a_dead_worker_was_at_is_blamed_and_after_three_deaths_it_fails) {
  Table t(needs_no_workers());
  t.start();
  t.feed(Joined{0});
  t.answer(0);  // short: now two at a time
  const auto poison = t.sent_to(0).at(0).id;
  lose(t, 3, poison, true);
  EXPECT_EQ(t.fails, 1u);
  t.feed(Recorded{t.records});
  EXPECT_EQ(t.told.back(), poison);
  EXPECT_EQ(t.broker.counts().failed, 1u);
}

TEST(Broker, an_evaluation_is_not_blamed_for_a_lost_connection) {
  Table t(needs_no_workers());
  t.start();
  t.feed(Joined{0});
  const auto first = t.sent_to(0).at(0).id;
  lose(t, 20, first, false);
  EXPECT_EQ(t.fails, 0u);
}

TEST(Broker, the_first_of_two_answers_counts_and_the_second_is_dropped) {
  Table t(with_budget(10));
  t.start();
  t.feed(Joined{0});
  const auto send = t.sent.at(0);
  t.answer(0, 1);
  const auto told = t.told.size();
  t.feed(Arrived{send.worker, send.id, send.attempt, true, 2, 0.001});
  t.feed(Recorded{t.records});
  EXPECT_EQ(t.told.size(), told);
  EXPECT_EQ(t.drops, 1u);
}

TEST(Broker, a_late_answer_of_a_lost_worker_is_taken_and_the_repeat_is_dropped) {
  auto options = with_budget(10);
  options.prefetch = false;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.feed(Joined{1});
  const auto send = t.sent_to(0).at(0);
  t.feed(Lost{0});
  t.feed(Arrived{0, send.id, send.attempt, true, 1, 0.001});
  t.feed(Recorded{t.records});
  EXPECT_EQ(std::count(t.told.begin(), t.told.end(), send.id), 1);
  while (t.stopped == StopReason::none) t.answer(0);
  EXPECT_EQ(t.told.size(), 10u);
  EXPECT_EQ(std::set<EvaluationId>(t.told.begin(), t.told.end()).size(), 10u);
}

TEST(Broker, retries_failures_as_often_as_allowed_and_then_penalises) {
  auto options = with_budget(1);
  options.failures = {OnFailure::retry, 2, 3};
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.answer(0, 0, false);
  t.answer(0, 0, false);
  EXPECT_TRUE(t.told.empty());
  EXPECT_EQ(t.sent.at(0).attempt, 2u);
  t.answer(0, 0, false);
  EXPECT_EQ(t.told.size(), 1u);
  EXPECT_EQ(t.broker.counts().retried, 2u);
  EXPECT_EQ(t.broker.counts().failed, 1u);
  EXPECT_EQ(t.records, 1u);
}

TEST(Broker, stops_at_a_failure_when_told_to_without_recording_it) {
  auto options = with_budget(10);
  options.failures.on_failure = OnFailure::stop;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.answer(0, 0, false);
  EXPECT_EQ(t.stopped, StopReason::failure);
  EXPECT_EQ(t.records, 0u);
}

TEST(Broker, stops_when_told_to_at_an_evaluation_that_costs_workers) {
  auto options = needs_no_workers();
  options.failures.on_failure = OnFailure::stop;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  lose(t, 3, t.sent_to(0).at(0).id, true);
  EXPECT_EQ(t.stopped, StopReason::failure);
  EXPECT_EQ(t.records, 0u);
}

TEST(Broker, gives_up_when_nothing_ever_succeeded_and_only_then) {
  auto options = with_budget(0);
  options.failures.give_up_after = 5;
  Table hopeless(options);
  hopeless.start();
  hopeless.feed(Joined{0});
  while (hopeless.stopped == StopReason::none) hopeless.answer(0, 0, false);
  EXPECT_EQ(hopeless.stopped, StopReason::all_failed);
  EXPECT_EQ(hopeless.told.size(), 5u);
  EXPECT_TRUE(hopeless.cancelled.empty());

  Table hopeful(options);
  hopeful.start();
  hopeful.feed(Joined{0});
  hopeful.answer(0, 1, true);
  for (int i = 0; i < 20; ++i) hopeful.answer(0, 0, false);
  EXPECT_EQ(hopeful.stopped, StopReason::none);

  options.failures.give_up_after = 0;
  Table patient(options);
  patient.start();
  patient.feed(Joined{0});
  for (int i = 0; i < 200; ++i) patient.answer(0, 0, false);
  EXPECT_EQ(patient.stopped, StopReason::none);
}

TEST(Broker, gives_up_soon_if_evaluations_lack_a_name) {
  Table hopeless(with_budget(0));
  hopeless.start();
  hopeless.feed(Joined{0});
  hopeless.answer(0, 0, false);
  while (hopeless.stopped == StopReason::none) hopeless.answer(0, 0, false, 0.01, 0, true);
  EXPECT_EQ(hopeless.stopped, StopReason::all_failed);
  EXPECT_EQ(hopeless.told.size(), 4u);

  Table hopeful(with_budget(0));
  hopeful.start();
  hopeful.feed(Joined{0});
  hopeful.answer(0, 1, true);
  for (int i = 0; i < 20; ++i) hopeful.answer(0, 0, false, 0.01, 0, true);
  EXPECT_EQ(hopeful.stopped, StopReason::none);

  auto options = with_budget(0);
  options.failures.give_up_after = 0;
  Table patient(options);
  patient.start();
  patient.feed(Joined{0});
  for (int i = 0; i < 20; ++i) patient.answer(0, 0, false, 0.01, 0, true);
  EXPECT_EQ(patient.stopped, StopReason::none);
}

TEST(Broker, the_failures_of_former_masters_alone_do_not_make_it_give_up) {
  auto options = with_budget(0);
  options.failures.give_up_after = 3;
  Table t(options);
  t.broker.replay_ask(3);
  for (EvaluationId id = 0; id < 3; ++id) t.broker.replay_tell(id, false, 0);
  t.asked = 3;
  t.start();
  t.feed(Joined{0});
  t.answer(0, 0, false);
  t.answer(0, 0, false);
  EXPECT_EQ(t.stopped, StopReason::none);
  t.answer(0, 0, false);
  EXPECT_EQ(t.stopped, StopReason::all_failed);
}

TEST(Broker, stops_without_workers_unless_others_may_come) {
  Table t(with_budget(10));
  t.start();
  t.feed(Joined{0});
  t.feed(Lost{0});
  EXPECT_EQ(t.stopped, StopReason::error);
  auto options = with_budget(10);
  options.needs_workers = false;
  Table patient(options);
  patient.start();
  patient.feed(Joined{0});
  patient.feed(Lost{0});
  EXPECT_EQ(patient.stopped, StopReason::none);
  patient.feed(Joined{1});
  EXPECT_FALSE(patient.sent_to(1).empty());
}

/// Evaluations 1 and 3 return 3 residuals, all others 4. They arrive in this order.
Table told_in_order_of(const std::vector<EvaluationId>& arrivals) {
  auto options = with_budget(10);
  options.prefetch = false;
  Table t(options);
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  for (const auto id : arrivals) {
    const auto at = std::ranges::find(t.sent, id, &Send::id);
    if (at != t.sent.end()) t.answer(static_cast<std::size_t>(at - t.sent.begin()), 1, true, 1, id % 2 == 1 ? 3 : 4);
  }
  return t;
}

TEST(Broker, residuals_of_two_lengths_end_the_study_alike_whoever_arrives_first) {
  for (const auto& arrivals : std::vector<std::vector<EvaluationId>>{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}}) {
    const auto t = told_in_order_of(arrivals);
    EXPECT_EQ(t.stopped, StopReason::failure);
    EXPECT_EQ(t.told, std::vector<EvaluationId>{0});
    EXPECT_EQ(t.broker.counts().failed, 0U);
    ASSERT_TRUE(t.differ);
    EXPECT_EQ(std::pair(t.differ->first, t.differ->residuals_of_first), std::pair(EvaluationId{0}, std::uint64_t{4}));
    EXPECT_EQ(std::pair(t.differ->other, t.differ->residuals_of_other), std::pair(EvaluationId{1}, std::uint64_t{3}));
  }
}

TEST(Broker, a_resume_evaluates_again_what_has_another_number_of_residuals) {
  Table t(with_budget(4));
  t.broker.replay_ask(4);
  t.broker.replay_tell(0, true, 1, 4);
  t.broker.replay_outcome(1, true, 1, 3);
  t.broker.replay_outcome(2, true, 1, 4);
  t.asked = 4;
  t.start();
  t.feed(Joined{0});
  EXPECT_EQ(t.sent.at(0).id, 1U);
  t.answer(0, 1, true, 1, 4);
  EXPECT_EQ(t.told, (std::vector<EvaluationId>{1, 2}));
  EXPECT_EQ(t.stopped, StopReason::none);
}

TEST(Broker, programs_may_return_any_numbers_of_residuals) {
  auto options = with_budget(0);
  options.open_ended = true;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.answer(0, 1, true, 1, 4);
  t.answer(0, 1, true, 1, 3);
  EXPECT_EQ(t.told.size(), 2U);
}

}  // namespace
}  // namespace culmen
