#include "culmen/broker/broker.hpp"

#include <gtest/gtest.h>

#include <set>

namespace culmen {
namespace {

// Plays the engine: answers Ask from an endless (or finite) source, records at once or when told to.
class Table {
 public:
  explicit Table(const BrokerOptions& options) : broker(options) {}

  void start() {
    broker.start(now, pending_);
    run();
  }
  void feed(const Event& event) {
    broker.on(event, now, pending_);
    run();
  }
  void answer(std::size_t which, double value = 1, bool ok = true, double duration = 0.01) {
    const auto send = sent.at(which);
    sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(which));
    feed(Arrived{send.worker, send.id, send.attempt, ok, value, duration});
    if (record_at_once) feed(Recorded{records});
  }
  std::vector<Send> sent_to(WorkerId worker) const {
    std::vector<Send> out;
    for (const auto& s : sent) {
      if (s.worker == worker) out.push_back(s);
    }
    return out;
  }

  Broker broker;
  double now = 0;
  bool record_at_once = true;
  std::uint64_t generation = UINT64_MAX;  // candidates per generation
  std::uint64_t source_left = UINT64_MAX;
  std::uint64_t asked = 0, asks = 0, records = 0, drops = 0, fails = 0;
  std::vector<Send> sent;
  std::vector<EvaluationId> told, cancelled;
  std::vector<JobId> started, adopted;
  StopReason stopped = StopReason::none;

 private:
  void run() {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const auto action = pending_[i];
      if (const auto* a = std::get_if<Ask>(&action)) {
        const auto in_generation = generation == UINT64_MAX ? a->wanted
                                   : generation == 0        ? 0
                                                            : (told.size() / generation + 1) * generation - asked;
        ++asks;
        const auto n = std::min({a->wanted, in_generation, source_left});
        source_left -= n;
        const auto first = asked;
        asked += n;
        broker.on(Asked{a->wanted, first, n, source_left == 0}, now, pending_);
      }
      if (const auto* a = std::get_if<Send>(&action)) sent.push_back(*a);
      if (const auto* a = std::get_if<Tell>(&action)) told.push_back(a->id);
      if (const auto* a = std::get_if<Cancel>(&action)) cancelled.push_back(a->id);
      if (const auto* a = std::get_if<StartJob>(&action)) started.push_back(a->job);
      if (const auto* a = std::get_if<Adopt>(&action)) adopted.push_back(a->job);
      if (const auto* a = std::get_if<Stop>(&action)) stopped = a->reason;
      records += std::holds_alternative<Record>(action);
      drops += std::holds_alternative<Drop>(action);
      fails += std::holds_alternative<Fail>(action);
    }
    pending_.clear();
  }
  std::vector<Action> pending_;
};

BrokerOptions with_budget(std::uint64_t evaluations) {
  BrokerOptions options;
  options.rules.evaluations = evaluations;
  return options;
}

TEST(Broker, gives_one_candidate_to_each_worker_and_a_second_once_evaluations_are_known_to_be_short) {
  Table t(with_budget(100));
  t.start();
  for (WorkerId w = 0; w < 3; ++w) t.feed(Joined{w});
  EXPECT_EQ(t.sent.size(), 3u);
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
  EXPECT_EQ(at_a_worker(0, Mode::generational, true), 2u) << "calls of a program";
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

TEST(Broker, stops_with_an_error_when_a_job_fails) {
  Table t(with_budget(10));
  t.start();
  t.feed(JobGiven{0});
  t.feed(JobDone{0, false});
  EXPECT_EQ(t.stopped, StopReason::error);
  EXPECT_TRUE(t.adopted.empty());
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

TEST(Broker, only_the_evaluation_a_dead_worker_was_at_is_blamed_and_after_three_deaths_it_fails) {
  auto options = with_budget(50);
  options.needs_workers = false;
  Table t(options);
  t.start();
  t.feed(Joined{0});
  t.answer(0);  // short: now two at a time
  const auto poison = t.sent_to(0).at(0).id;
  for (WorkerId w = 0; w < 3; ++w) {
    EXPECT_EQ(t.sent_to(w).at(0).id, poison);
    t.feed(Lost{w});
    t.feed(Joined{w + 1});
  }
  EXPECT_EQ(t.fails, 1u);
  t.feed(Recorded{t.records});
  EXPECT_EQ(t.told.back(), poison);
  EXPECT_EQ(t.broker.counts().failed, 1u);
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

TEST(Broker, what_a_former_master_cancelled_uses_up_no_budget) {
  Table t(with_budget(6));
  t.broker.replay_ask(0, 4);
  t.broker.replay_tell(0, true, 1);
  for (EvaluationId id = 1; id < 4; ++id) t.broker.replay_cancel(id);
  t.asked = 4;
  t.start();
  t.feed(Joined{0});
  while (t.stopped == StopReason::none && !t.sent.empty()) t.answer(0);
  EXPECT_EQ(t.stopped, StopReason::evaluations);
  EXPECT_EQ(t.broker.counts().told, 6u);
}

TEST(Broker, the_failures_of_former_masters_alone_do_not_make_it_give_up) {
  auto options = with_budget(0);
  options.failures.give_up_after = 3;
  Table t(options);
  t.broker.replay_ask(0, 3);
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

TEST(Broker, replay_of_a_study_that_was_at_its_end_ends_at_once) {
  auto at_target = with_budget(100);
  at_target.rules.target = 1;
  for (const auto& options : {with_budget(2), at_target}) {
    Broker broker(options);
    broker.replay_ask(0, 4);
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

TEST(Broker, replay_continues_with_what_was_open) {
  Broker broker(with_budget(6));
  broker.replay_ask(0, 4);
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
