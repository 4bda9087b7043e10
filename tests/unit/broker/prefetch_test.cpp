// How many candidates wait at workers, and which ones stay with the broker.
#include <gtest/gtest.h>

#include "broker_table.hpp"

namespace culmen {
namespace {

TEST(Broker, gives_one_candidate_to_each_worker_and_a_second_once_evaluations_are_known_to_be_short) {
  Table t(with_budget(100));
  t.start();
  for (WorkerId w = 0; w < 3; ++w) t.feed(Joined{w});
  EXPECT_EQ(t.sent.size(), 3u);
  t.answer(0);
  EXPECT_EQ(t.sent.size(), 4u) << "the others have not answered yet";
  t.answer(0);
  t.answer(0);
  EXPECT_EQ(t.sent.size(), 6u);
  for (WorkerId w = 0; w < 3; ++w) EXPECT_EQ(t.sent_to(w).size(), 2u) << w;
}

std::size_t at_a_worker(double duration_s, Mode mode = Mode::generational, bool open_ended = false) {
  auto options = with_budget(1000);
  options.mode = mode;
  options.open_ended = open_ended;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  for (int i = 0; i < 5; ++i) t.answer(0, 1, true, duration_s);
  return t.sent_to(0).size();
}

TEST(Broker, gives_a_worker_several_short_evaluations) {
  EXPECT_EQ(at_a_worker(0), 9u);
  EXPECT_EQ(at_a_worker(2e-5), 9u);
  EXPECT_EQ(at_a_worker(0.6e-3), 4u) << "three take less than 2 ms";
  EXPECT_EQ(at_a_worker(1.5e-3), 2u);
  EXPECT_EQ(at_a_worker(0.1), 2u);
  EXPECT_EQ(at_a_worker(5), 1u);
  EXPECT_EQ(at_a_worker(0, Mode::asynchronous), 2u) << "without generations";
}

TEST(Broker, gives_a_worker_few_calls_of_a_program) {
  EXPECT_EQ(at_a_worker(0, Mode::asynchronous, true), 3u);
  EXPECT_EQ(at_a_worker(0.12, Mode::asynchronous, true), 3u) << "two take less than 0.25 s";
  EXPECT_EQ(at_a_worker(0.2, Mode::asynchronous, true), 2u);
  EXPECT_EQ(at_a_worker(1, Mode::asynchronous, true), 1u);
}

/// The number of candidates at a worker after two evaluations of `duration_s`, if their outcomes came `trip_s` later.
std::size_t at_a_far_worker(double duration_s, double trip_s, Mode mode = Mode::generational) {
  auto options = with_budget(1000);
  options.mode = mode;
  options.prefetch_below_s = mode == Mode::generational ? 0.25 : 2e-4;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  for (int i = 0; i < 2; ++i) {
    t.now += duration_s + trip_s;
    t.answer(0, 1, true, duration_s);
  }
  return t.sent_to(0).size();
}

TEST(Broker, has_more_candidates_wait_where_the_way_is_long) {
  EXPECT_EQ(at_a_far_worker(1e-3, 1e-4), 1u + 2) << "2 ms";
  EXPECT_EQ(at_a_far_worker(1e-3, 5e-3), 1u + 10) << "two round trips";
  EXPECT_EQ(at_a_far_worker(1e-3, 10), 1u + 64) << "the most";
  EXPECT_EQ(at_a_far_worker(1, 0.2), 1u + 1) << "an evaluation is shorter than ten round trips";
  EXPECT_EQ(at_a_far_worker(1, 0.01), 1u);
  EXPECT_EQ(at_a_far_worker(1e-3, 5e-3, Mode::asynchronous), 1u + 1);
  EXPECT_EQ(at_a_far_worker(1e-3, 5e-5, Mode::asynchronous), 1u) << "better candidates are worth more";
}

TEST(Broker, has_more_candidates_wait_only_at_those_workers_to_which_the_way_is_long) {
  Table t(with_budget(1000));
  t.start();
  for (WorkerId w = 0; w < 2; ++w) t.feed(Joined{w});
  const auto answer = [&](WorkerId worker) {
    const auto it = std::find_if(t.sent.begin(), t.sent.end(), [&](const Send& s) { return s.worker == worker; });
    t.answer(static_cast<std::size_t>(it - t.sent.begin()), 1, true, 1e-3);
  };
  t.now += 1e-3 + 1e-5;
  answer(0);
  t.now += 5e-3;
  answer(1);
  EXPECT_EQ(t.sent_to(1).size(), 1u) << "the first way may have been long because all workers started at once";
  t.now += 1e-3 + 5e-3;
  answer(1);
  EXPECT_EQ(t.sent_to(0).size(), 1u + 2) << "2 ms";
  EXPECT_EQ(t.sent_to(1).size(), 1u + 10) << "two round trips";
  t.feed(Joined{2});
  EXPECT_EQ(t.sent_to(2).size(), 1u) << "its way is not known";
}

TEST(Broker, asks_without_generations_only_for_those_that_evaluate_at_once_if_evaluations_have_become_long) {
  auto options = with_budget(1000);
  options.mode = Mode::asynchronous;
  Table t(options);
  t.start();
  const auto answer = [&](WorkerId worker, double duration_s) {
    const auto it = std::find_if(t.sent.begin(), t.sent.end(), [&](const Send& s) { return s.worker == worker; });
    t.answer(static_cast<std::size_t>(it - t.sent.begin()), 1, true, duration_s);
  };
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  for (WorkerId w = 0; w < 4; ++w) answer(w, 0.01);
  ASSERT_EQ(t.sent.size(), 8u);
  t.record_at_once = false;
  for (WorkerId w = 0; w < 4; ++w) answer(w, 0.01);
  answer(0, 1000);
  const auto asked = t.asked;
  t.feed(Recorded{t.records});
  EXPECT_EQ(t.asked - asked, 1u);
}

TEST(Broker, judges_the_way_by_its_least_round_trip) {
  auto options = with_budget(1000);
  options.mode = Mode::asynchronous;
  options.prefetch_below_s = 2e-4;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.now += 1e-3 + 5e-5;
  t.answer(0, 1, true, 1e-3);
  t.now += 1e-3 + 1;  // the machine was busy
  t.answer(0, 1, true, 1e-3);
  EXPECT_EQ(t.sent_to(0).size(), 1u);
}

TEST(Broker, looks_again_at_a_way_that_was_long_at_the_start) {
  Table t(with_budget(1000));
  t.start();
  t.feed(Joined{0});
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(t.sent_to(0).size(), 1u);
    t.now += 1e-3 + 1;
    t.answer(0, 1, true, 1e-3);
  }
  EXPECT_EQ(t.sent_to(0).size(), 1u + 64);
  std::size_t answered = 2;
  while (t.sent_to(0).size() > 1) {
    t.now += 1e-3;
    t.answer(0, 1, true, 1e-3);
    ASSERT_LT(++answered, 200u) << "its candidates are never fewer";
  }
  EXPECT_EQ(answered, 2u + 5 + 64) << "five more come before it is in doubt";
  t.answer(0, 1, true, 1e-3);
  EXPECT_EQ(t.sent_to(0).size(), 1u) << "it is alone";
  t.now += 1e-3 + 1e-4;
  t.answer(0, 1, true, 1e-3);
  EXPECT_EQ(t.sent_to(0).size(), 1u + 2) << "the way is short now";
}

TEST(Broker, fills_a_worker_once_half_of_its_candidates_are_left) {
  Table t(with_budget(1000));
  t.start();
  t.feed(Joined{0});
  for (int i = 0; i < 5; ++i) t.answer(0, 1, true, 0);
  for (const std::size_t left : {8u, 7u, 6u, 9u, 8u, 7u, 6u, 9u}) {
    t.answer(0, 1, true, 0);
    EXPECT_EQ(t.sent_to(0).size(), left);
  }
}

/// The number of candidates at a worker after many evaluations of 10 ms. An answer also costs `lost_s`, and a message
/// `message_s`. A message carries more answers if more candidates wait.
std::size_t at_a_crowded_worker(double lost_s, double message_s, std::uint64_t generation = UINT64_MAX) {
  Table t(with_budget(100000));
  t.generation = generation;
  t.start();
  t.feed(Joined{0});
  std::size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto has = t.sent_to(0).size();
    t.now += 0.01 + lost_s + message_s / static_cast<double>(has);
    t.answer(0, 1, true, 0.01);
    most = std::max(most, t.sent_to(0).size());
  }
  return most;
}

TEST(Broker, lets_more_candidates_wait_at_a_worker_that_is_often_idle_if_that_is_of_use) {
  EXPECT_LE(at_a_crowded_worker(0, 0.0005), 2u) << "it is busy";
  EXPECT_GE(at_a_crowded_worker(0, 0.04), 9u);
  EXPECT_LE(at_a_crowded_worker(0.04, 0), 17u) << "twice as many are of no use";
  EXPECT_LE(at_a_crowded_worker(0, 10), 65u) << "the most";
}

TEST(Broker, shares_a_short_generation_fairly_though_candidates_travel_together) {
  constexpr std::uint64_t generation = 50, workers = 10;
  Table t(with_budget(1000));
  t.generation = generation;
  t.start();
  for (WorkerId w = 0; w < workers; ++w) t.feed(Joined{w});
  while (t.told.size() < 2 * generation) t.answer(0, 1, true, 1e-4);
  for (WorkerId w = 0; w < workers; ++w) EXPECT_LE(t.sent_to(w).size(), generation / workers) << w;
}

TEST(Broker, lets_a_worker_hold_results_only_if_enough_candidates_are_there) {
  Table near(with_budget(1000)), far(with_budget(1000));
  for (auto* t : {&near, &far}) {
    t->start();
    t->feed(Joined{0});
    for (int i = 0; i < 5; ++i) {
      t->now += 1e-5 + (t == &near ? 0 : 0.1);
      t->answer(0, 1, true, 1e-5);
    }
  }
  EXPECT_EQ(near.sent.back().may_hold, 2u);
  EXPECT_EQ(far.sent.back().may_hold, 0u);
}

TEST(Broker, blames_no_candidate_if_the_worker_may_have_held_its_result) {
  auto options = with_budget(1000);
  options.failures.lost_workers = 1;
  options.needs_workers = false;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  for (int i = 0; i < 5; ++i) t.answer(0, 1, true, 0);
  ASSERT_GT(t.sent_to(0).size(), 4u);
  t.sent.clear();
  t.feed(Lost{0});
  EXPECT_EQ(t.fails, 0u);
  t.feed(Joined{1});
  t.feed(Lost{1});
  EXPECT_EQ(t.fails, 1u) << "it was the first of all and is repeated";
}

TEST(Broker, lets_no_more_wait_at_a_worker_that_is_idle_for_want_of_candidates) {
  EXPECT_LE(at_a_crowded_worker(0, 0.04, 1), 1u);
}

TEST(Broker, keeps_the_last_candidates_of_a_generation_for_workers_that_have_none) {
  Table t(with_budget(1000));
  t.generation = 12;
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  // Eight are left, two for each worker: they wait here although evaluations are short.
  for (int i = 0; i < 4; ++i) {
    t.answer(0);
    EXPECT_EQ(t.sent.size(), 4u);
    for (WorkerId w = 0; w < 4; ++w) EXPECT_EQ(t.sent_to(w).size(), 1u) << w;
  }
}

TEST(Broker, has_candidates_of_a_long_generation_wait_at_workers_until_few_are_left) {
  Table t(with_budget(1000));
  t.generation = 100;
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  for (int i = 0; i < 4; ++i) t.answer(0);
  EXPECT_EQ(t.sent.size(), 8u);
  while (t.told.size() < 92) t.answer(0);
  EXPECT_EQ(t.sent.size(), 4u);
}

TEST(Broker, keeps_no_calls_of_a_program) {
  auto options = with_budget(0);
  options.open_ended = true;
  options.mode = Mode::asynchronous;
  Table t(options);
  t.source_left = 100;
  t.start();
  for (WorkerId w = 0; w < 4; ++w) t.feed(Joined{w});
  for (int i = 0; i < 4; ++i) t.answer(0);
  for (WorkerId w = 0; w < 4; ++w) EXPECT_GE(t.sent_to(w).size(), 2u) << w;
}

TEST(Broker, lets_the_last_candidates_wait_at_workers_if_evaluations_are_shorter_than_round_trips) {
  Table t(with_budget(1000));
  t.generation = 12;
  t.start();
  for (WorkerId w = 0; w < 2; ++w) t.feed(Joined{w});
  for (int i = 0; i < 2; ++i) {
    t.now += 1e-3;
    t.answer(0, 1, true, 1e-5);
    t.answer(0, 1, true, 1e-5);
  }
  EXPECT_EQ(t.sent.size(), 8u);
}

TEST(Broker, does_not_prefetch_long_evaluations_or_when_told_not_to) {
  Table slow(with_budget(100));
  slow.start();
  slow.feed(Joined{0});
  slow.answer(0, 1, true, 5.0);
  EXPECT_EQ(slow.sent.size(), 1u);
  Table unknown(with_budget(100));
  unknown.start();
  unknown.feed(Joined{0});
  unknown.answer(0, 1, true, -1);
  EXPECT_EQ(unknown.sent.size(), 1u);
  unknown.answer(0);
  EXPECT_EQ(unknown.sent.size(), 2u);
  auto options = with_budget(100);
  options.prefetch = false;
  Table off(options);
  off.start();
  off.feed(Joined{0});
  off.answer(0);
  EXPECT_EQ(off.sent.size(), 1u);
}

}  // namespace
}  // namespace culmen
