#include "culmen/study/source/executor_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Bytes bytes(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}
std::string text(BytesView view) { return {reinterpret_cast<const char*>(view.data()), view.size()}; }

// Plays a slot: knows a function once its pickle came; answers with a zero, the function and the arguments.
class Slot final : public Evaluator {
 public:
  Outcome evaluate(const Candidate& candidate, Attempt) override {
    ByteReader in(candidate.payload);
    const auto number = in.u64();
    if (const auto pickle = in.blob(); !pickle.empty()) known_[number] = text(pickle);
    Outcome outcome = Outcome::of_value(0);
    outcome.payload = known_.count(number) == 0 ? Bytes{std::byte{2}}
                                                : bytes('\0' + known_[number] + "(" + text(in.take(in.left())) + ")");
    return outcome;
  }

 private:
  std::map<std::uint64_t, std::string> known_;
};

// An engine over a virtual cluster of such slots.
struct Machine {
  explicit Machine(ClusterPlan plan = {})
      : cluster(plan, clock, [](const SetUp&) { return std::make_unique<Slot>(); }) {
    EngineOptions options;
    options.set_up = encode(SetUp{{}, {}});
    options.broker.needs_workers = false;
    options.broker.failures.give_up_after = 0;
    options.broker.failures.lost_workers = 1000;
    engine = std::make_unique<Engine>(source, clock, options);
    engine->start(cluster, nullptr);
  }
  void submit(ItemId first, ItemId count, const std::shared_ptr<const ItemFunction>& function) {
    std::vector<Item> items;
    for (auto id = first; id < first + count; ++id) items.push_back({id, function, bytes(std::to_string(id))});
    if (source.push(std::move(items))) engine->offer();
  }
  // Until nothing is under way, or it has stopped; a cluster that would sleep for ever has nothing under way.
  void work() {
    try {
      while (!engine->stopped())
        if (!engine->turn() && !engine->stopped()) cluster.sleep(engine->patience_s());
    } catch (const std::logic_error&) {
    }
    for (auto& item : source.take(0)) answers[item.number] = text(item.outcome.payload).substr(1);
  }

  VirtualClock clock;
  VirtualCluster cluster;
  ExecutorSource source;
  std::unique_ptr<Engine> engine;
  std::map<ItemId, std::string> answers;
};

TEST(ExecutorSource, items_reach_slots_which_ask_for_functions_that_they_do_not_know) {
  Machine machine;
  const std::string long_name(ExecutorSource::small_function_bytes + 1, 'g');
  const auto f = machine.source.make_function(bytes("f")), g = machine.source.make_function(bytes(long_name));
  machine.submit(0, 20, f);
  machine.submit(20, 20, g);
  machine.work();
  ASSERT_EQ(machine.answers.size(), 40u);
  EXPECT_EQ(machine.answers[3], "f(3)");
  EXPECT_EQ(machine.answers[33], long_name + "(33)");
  EXPECT_GT(machine.source.asked(), 40u);
  EXPECT_LT(machine.source.asked(), 80u);  // a slot that has a function does not ask again
}

TEST(ExecutorSource, a_small_function_comes_with_the_first_items_so_that_no_slot_asks_and_their_order_stays) {
  Machine machine;
  machine.submit(0, 40, machine.source.make_function(bytes("f")));
  machine.work();
  EXPECT_EQ(machine.answers.size(), 40u);
  EXPECT_EQ(machine.source.asked(), 40u);
}

TEST(ExecutorSource, what_asks_for_a_function_is_no_evaluation) {
  const ExecutorSource source;
  auto outcome = Outcome::of_value(0);
  EXPECT_TRUE(source.evaluated(outcome));
  outcome.payload = {std::byte{2}};
  EXPECT_FALSE(source.evaluated(outcome));
  outcome.payload.push_back({});
  EXPECT_TRUE(source.evaluated(outcome));
}

TEST(ExecutorSource, the_engine_waits_while_it_is_empty_and_ends_when_it_is_closed) {
  Machine machine;
  const auto f = machine.source.make_function(bytes("f"));
  for (ItemId round = 0; round < 3; ++round) {
    machine.submit(10 * round, 10, f);
    machine.work();
    EXPECT_FALSE(machine.engine->stopped());
    EXPECT_EQ(machine.answers.size(), 10 * (round + 1));
  }
  machine.source.close();
  machine.engine->offer();
  machine.work();
  EXPECT_TRUE(machine.engine->stopped());
  EXPECT_EQ(machine.engine->finish().reason, StopReason::exhausted);
}

TEST(ExecutorSource, what_was_pushed_before_it_was_closed_is_done_also_when_slots_ask_for_its_function) {
  Machine machine;
  machine.submit(0, 3, machine.source.make_function(bytes("f")));
  machine.source.close();
  EXPECT_THROW(machine.submit(3, 1, machine.source.make_function(bytes("g"))), InputError);
  machine.work();
  EXPECT_TRUE(machine.engine->stopped());
  EXPECT_EQ(machine.answers.size(), 3u);
}

TEST(ExecutorSource, every_item_is_answered_once_though_workers_die_and_answer_twice) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ClusterPlan plan;
    plan.seed = seed;
    plan.dies = plan.leaves = plan.answers_twice = plan.answers_late = plan.joins = 0.1;
    Machine machine(plan);
    const auto f = machine.source.make_function(bytes("f"));
    machine.submit(0, 60, f);
    machine.work();
    ASSERT_EQ(machine.answers.size(), 60u) << seed;
    for (const auto& [id, answer] : machine.answers) EXPECT_EQ(answer, "f(" + std::to_string(id) + ")");
  }
}

TEST(ExecutorSource, one_long_evaluation_does_not_hold_up_the_others) {
  Broker broker([] {
    BrokerOptions options;
    options.mode = Mode::asynchronous;
    options.open_ended = true;
    options.ask_ahead = UINT64_MAX;
    return options;
  }());
  std::vector<Action> actions;
  broker.start(0, actions);
  broker.on(Joined{0}, 0, actions);
  broker.on(Joined{1}, 0, actions);
  EvaluationId given = 0;
  std::uint64_t sends = 0;
  for (std::size_t i = 0; i < actions.size() && sends < 100'000; ++i) {
    if (const auto* ask = std::get_if<Ask>(&actions[i])) {
      const auto wanted = ask->wanted;
      broker.on(Asked{wanted, given, wanted, false}, 0, actions);
      given += wanted;
    } else if (const auto* send = std::get_if<Send>(&actions[i]); send != nullptr) {
      ++sends;
      if (send->id != 0) broker.on(Arrived{send->worker, send->id, send->attempt, true, 0, 0.001}, 0, actions);
    } else if (std::holds_alternative<Record>(actions[i])) {
      broker.on(Recorded{broker.counts().told + 1}, 0, actions);
    }
  }
  EXPECT_EQ(sends, 100'000u);
}

TEST(ExecutorSource, what_was_not_asked_for_can_be_cancelled) {
  ExecutorSource source;
  const auto f = source.make_function(bytes("f"));
  source.push({{0, f, {}}, {1, f, {}}, {2, f, {}}, {3, f, {}}});
  std::vector<Candidate> given;
  source.ask(1, given);
  EXPECT_FALSE(source.holds(0));
  EXPECT_TRUE(source.holds(2));
  EXPECT_FALSE(source.cancel_item(0));
  EXPECT_TRUE(source.cancel_item(2));
  EXPECT_FALSE(source.holds(2));
  EXPECT_FALSE(source.cancel_item(2));
  EXPECT_THAT(source.cancel_all(), ElementsAre(1, 3));
  source.close();
  EXPECT_FALSE(source.finished());
  auto outcome = Outcome::of_value(0);
  source.tell(0, outcome);
  EXPECT_TRUE(source.finished());
  EXPECT_EQ(source.take(0).at(0).number, 0u);
}

TEST(ExecutorSource, what_no_frame_can_carry_is_refused_with_one_sentence) {
  ExecutorSource source;
  const auto f = source.make_function({});
  const std::vector<Item> item{{0, f, Bytes(ExecutorSource::largest_item_bytes + 1)}};
  try {
    source.push(item);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("bytes when pickled; at most"));
  }
}

}  // namespace
}  // namespace culmen
