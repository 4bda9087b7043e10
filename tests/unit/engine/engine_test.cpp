#include "culmen/engine/engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/lossy_recorder.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

using ::testing::HasSubstr;

const Space space{real("x", -1, 1), real("y", -1, 1)};

double sphere(const std::vector<double>& x) { return x[0] * x[0] + x[1] * x[1]; }

EngineOptions options_for(std::uint64_t evaluations) {
  EngineOptions o;
  o.broker.rules.evaluations = evaluations;
  o.set_up = encode(SetUp{space, {}});
  o.build = "this build";
  return o;
}

EvaluatorFactory factory(Function f) {
  return [f](const SetUp&) { return make_function_evaluator(f); };
}

const EvaluatorFactory sphere_factory =
    factory([](const std::vector<double>& x) { return Outcome::of_value(sphere(x)); });

class TemporaryStore {
 public:
  TemporaryStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "culmen-engine-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TemporaryStore() { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/study.db"; }
  Journal create() const {
    return Journal::create(path(), {"test", "{}", "0", "former build", 0}, Durability::process);
  }

 private:
  std::string folder_;
};

// Forgets one record, as a full disk would.
class FailingRecorder final : public Recorder {
 public:
  std::uint64_t push(CallRecord) override { return ++pushed_; }
  std::uint64_t push(OutcomeRecord) override { return ++pushed_; }
  std::uint64_t durable() const override { return pushed_ < 20 ? pushed_ : 19; }
  std::string error() const override { return pushed_ < 20 ? "" : "/data/study.db: no space left on the device"; }
  void close() override {}

 private:
  std::uint64_t pushed_ = 0;
};

TEST(Engine, runs_a_study_to_its_budget_and_keeps_the_best) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("cmaes", space, 1);
  Engine engine(*optimizer, clock, options_for(300));
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::evaluations);
  EXPECT_EQ(result.counts.told, 300u);
  ASSERT_TRUE(result.has_best);
  EXPECT_LT(result.best_outcome.value, 1e-6);
  EXPECT_EQ(result.best_outcome.value, sphere(result.best.x));
  EXPECT_EQ(engine.progress().evaluations, 300u);
  EXPECT_EQ(engine.progress().phase, Phase::done);
}

TEST(Engine, a_worker_that_cannot_be_set_up_ends_the_study_with_its_sentence) {
  VirtualClock clock;
  VirtualCluster cluster(
      {}, clock, [](const culmen::SetUp&) -> std::unique_ptr<Evaluator> { throw Error("no module named 'nothing'"); });
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(10));
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::set_up);
  EXPECT_EQ(result.message, "no module named 'nothing'");
}

/// Its only worker dies in its set-up.
class DiesInSetUp final : public Transport {
 public:
  void send(WorkerId, const FrameHead&, BytesView) override {}
  bool receive(Sink& sink) override {
    if (std::exchange(died_, true)) return false;
    sink.joined(0);
    sink.lost(0, "worker 1 died by signal 6");
    return true;
  }
  void sleep(double) override { throw std::logic_error("the master would sleep for ever"); }
  void wake() noexcept override {}
  void close(double) override {}

 private:
  bool died_ = false;
};

TEST(Engine, a_worker_that_dies_in_its_set_up_ends_the_study) {
  VirtualClock clock;
  DiesInSetUp transport;
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(10));
  const auto result = engine.run(transport, nullptr);
  EXPECT_EQ(result.reason, StopReason::set_up);
  EXPECT_EQ(result.message, "a worker was lost before it was ready: worker 1 died by signal 6");
}

TEST(Engine, a_machine_that_can_evaluate_nothing_more_ends_the_study_and_gives_no_outcome) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, factory([calls = 0](const std::vector<double>& x) mutable -> Outcome {
                           if (++calls > 3) throw ResourceError("cannot make a folder: no space left on device");
                           return Outcome::of_value(sphere(x));
                         }));
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(1000));
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_EQ(result.message, "cannot make a folder: no space left on device");
  EXPECT_EQ(result.counts.failed, 0u);
}

/// All others than the first two do as `others` does.
EvaluatorFactory two_that_work(Function others) {
  auto made = std::make_shared<int>(0);
  return [made, others](const culmen::SetUp&) {
    return make_function_evaluator(
        ++*made <= 2 ? Function([](const std::vector<double>& x) { return Outcome::of_value(sphere(x)); }) : others);
  };
}

/// All workers are visitors.
EngineResult run_with_visitors(VirtualCluster& cluster, const Clock& clock, std::uint64_t evaluations) {
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(evaluations));
  engine.expect_visitors(0);
  return engine.run(cluster, nullptr);
}

TEST(Engine, a_visitor_that_cannot_evaluate_ends_only_its_own_work) {
  VirtualClock clock;
  ClusterPlan plan;
  plan.workers = 5;
  VirtualCluster cluster(plan, clock, two_that_work([](const std::vector<double>&) -> Outcome {
                           throw ResourceError("no space left on device");
                         }));
  const auto result = run_with_visitors(cluster, clock, 200);
  EXPECT_EQ(result.reason, StopReason::evaluations);
  EXPECT_EQ(result.counts.told, 200u);
  EXPECT_EQ(result.counts.failed, 0u);
  EXPECT_EQ(result.counts.workers, 2u);
}

TEST(Engine, a_visitor_that_cannot_be_set_up_gets_no_work) {
  VirtualClock clock;
  ClusterPlan plan;
  plan.workers = 3;
  auto made = std::make_shared<int>(0);
  VirtualCluster cluster(plan, clock, [made](const culmen::SetUp&) -> std::unique_ptr<Evaluator> {
    if (++*made == 3) throw Error("no module named 'nothing'");
    return make_function_evaluator([](const std::vector<double>& x) { return Outcome::of_value(sphere(x)); });
  });
  const auto result = run_with_visitors(cluster, clock, 50);
  EXPECT_EQ(result.reason, StopReason::evaluations);
  EXPECT_EQ(result.counts.workers, 2u);
}

TEST(Engine, a_stop_request_ends_the_run_before_the_next_evaluation) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(1000000));
  engine.start(cluster, nullptr);
  while (engine.progress().evaluations < 50) {
    if (!engine.turn()) cluster.sleep(engine.patience_s());
  }
  engine.request_stop();
  engine.turn();
  EXPECT_TRUE(engine.stopped());
  EXPECT_EQ(engine.finish().reason, StopReason::interrupted);
}

TEST(Engine, wall_time_ends_the_run_though_nothing_arrives) {
  VirtualClock clock;
  ClusterPlan plan;
  plan.mean_duration_s = 1e6;
  VirtualCluster cluster(plan, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  auto options = options_for(0);
  options.broker.rules.wall_time_s = 60;
  Engine engine(*optimizer, clock, options);
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::wall_time);
  EXPECT_NEAR(clock.now_s(), 60, 1e-6);
}

TEST(Engine, a_store_that_cannot_be_written_ends_the_run_and_nothing_unrecorded_is_told) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(1000));
  FailingRecorder recorder;
  const auto result = engine.run(cluster, &recorder);
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_THAT(result.message, HasSubstr("no space left"));
  EXPECT_LT(result.counts.told, 20u);
}

TEST(Engine, policy_stop_names_the_evaluation_and_its_failure) {
  VirtualClock clock;
  VirtualCluster cluster(
      {}, clock, factory([](const std::vector<double>&) -> Outcome { throw std::runtime_error("singular matrix"); }));
  const auto optimizer = make_optimizer("random", space, 1);
  auto options = options_for(10);
  options.broker.failures.on_failure = OnFailure::stop;
  Engine engine(*optimizer, clock, options);
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::failure);
  EXPECT_THAT(result.message, HasSubstr("singular matrix"));
}

using Confusion = std::function<void(WorkerId, Bytes&)>;

void take_another_candidate(WorkerId, Bytes& result) { result[0] ^= std::byte{1}; }

// Changes the results on their way.
class Confused final : public Transport {
 public:
  explicit Confused(Transport& real, Confusion change = take_another_candidate)
      : real_(real), change_(std::move(change)) {}
  void send(WorkerId worker, const FrameHead& head, BytesView body) override { real_.send(worker, head, body); }
  bool receive(Sink& sink) override {
    Confuser confuser(sink, change_);
    return real_.receive(confuser);
  }
  void sleep(double at_most_s) override { real_.sleep(at_most_s); }
  void wake() noexcept override { real_.wake(); }
  void close(double grace_s) override { real_.close(grace_s); }

 private:
  struct Confuser final : Sink {
    Confuser(Sink& given, const Confusion& how) : sink(given), change(how) {}
    void joined(WorkerId worker) override { sink.joined(worker); }
    void arrived(WorkerId worker, const FrameHead& head, BytesView body) override {
      Bytes copy(body.begin(), body.end());
      if (head.kind == FrameKind::result) change(worker, copy);
      sink.arrived(worker, head, copy);
    }
    void lost(WorkerId worker, const std::string& why) override { sink.lost(worker, why); }
    Sink& sink;
    const Confusion& change;
  };
  Transport& real_;
  Confusion change_;
};

TEST(Engine, an_answer_for_another_candidate_is_never_told_and_its_worker_is_not_asked_again) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  Confused confused(cluster);
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(10));
  const auto result = engine.run(confused, nullptr);
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_EQ(result.counts.told, 0u);
  EXPECT_THAT(result.message, HasSubstr("answered for another candidate"));
}

TEST(Engine, a_visitor_whose_answer_cannot_be_read_is_lost_and_its_candidate_is_given_to_others) {
  VirtualClock clock;
  ClusterPlan plan;
  plan.workers = 3;
  VirtualCluster cluster(plan, clock, sphere_factory);
  Confused confused(cluster, [](WorkerId worker, Bytes& result) {
    if (worker == 1) result.resize(9);
  });
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(50));
  engine.expect_visitors(0);
  const auto result = engine.run(confused, nullptr);
  EXPECT_EQ(result.reason, StopReason::evaluations);
  EXPECT_EQ(result.counts.told, 50u);
  EXPECT_EQ(result.counts.failed, 0u);
  EXPECT_EQ(result.counts.workers, 2u);
}

TEST(Engine, a_study_of_which_nothing_ever_succeeds_is_given_up_with_its_first_failure) {
  VirtualClock clock;
  VirtualCluster cluster(
      {}, clock, factory([](const std::vector<double>&) -> Outcome { throw std::runtime_error("singular matrix"); }));
  const auto optimizer = make_optimizer("cmaes", space, 1);
  Engine engine(*optimizer, clock, options_for(1000));
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::all_failed);
  EXPECT_EQ(result.counts.told, 100u);
  EXPECT_EQ(result.first_failure, "evaluation 0 failed: singular matrix");
  EXPECT_EQ(result.message, "the first 100 evaluations of this start all failed; " + result.first_failure);
}

// Proposes ten candidates, then none, and does not say that it has finished.
class Mute final : public Optimizer {
  Mode mode() const override { return Mode::generational; }
  std::string name() const override { return "mute"; }
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    for (auto left = std::min<std::size_t>(n, 10 - asked()); left > 0; --left) out.push_back({0, {.5, .5}});
  }
  void do_tell(EvaluationId, const Outcome&) override {}
  void do_cancel(EvaluationId) override {}
};

TEST(Engine, an_optimizer_that_falls_silent_ends_the_study_instead_of_sleeping_for_ever) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  Mute mute;
  Engine engine(mute, clock, options_for(1000));
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_EQ(result.counts.told, 10u);
  EXPECT_THAT(result.message, HasSubstr("the optimizer proposes no candidate"));
}

void run_into(const TemporaryStore& store, std::uint64_t evaluations) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  LossyRecorder recorder(store.create());
  Engine engine(*optimizer, clock, options_for(evaluations));
  engine.start(cluster, &recorder);
  while (!engine.stopped()) {
    if (engine.turn()) continue;
    if (recorder.behind()) recorder.commit();
    else cluster.sleep(engine.patience_s());
  }
  engine.finish();
}

TEST(Engine, a_stop_request_may_have_another_reason) {
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(1000));
  engine.request_stop(StopReason::callback);
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::callback);
  EXPECT_FALSE(is_final(result.reason));
}

TEST(Engine, a_stop_request_ends_a_replay_and_the_result_is_what_the_journal_holds) {
  const TemporaryStore store;
  run_into(store, 600);
  VirtualClock clock;
  VirtualCluster cluster({}, clock, sphere_factory);
  const auto optimizer = make_optimizer("random", space, 1);
  Engine engine(*optimizer, clock, options_for(1000));
  const auto journal = Journal::resume(store.path(), Durability::process);
  engine.request_stop();
  engine.replay(journal);
  EXPECT_LT(optimizer->asked(), 600u);
  EXPECT_EQ(engine.progress().phase, Phase::replaying);
  const auto result = engine.run(cluster, nullptr);
  EXPECT_EQ(result.reason, StopReason::interrupted);
  EXPECT_THAT(result.message, HasSubstr("the store is unchanged"));
  EXPECT_EQ(result.counts.told, 600u);
  EXPECT_EQ(result.best_outcome.value, journal.summary().best->outcome.value);
  EXPECT_EQ(engine.progress().told_here, 0u);
}

TEST(Engine, replay_refuses_an_optimizer_that_proposes_something_else_and_names_both_builds) {
  const TemporaryStore store;
  run_into(store, 40);
  VirtualClock clock;
  const auto other = make_optimizer("random", space, 2);
  Engine engine(*other, clock, options_for(40));
  const auto journal = Journal::resume(store.path(), Durability::process);
  try {
    engine.replay(journal);
    FAIL();
  } catch (const StoreError& e) {
    EXPECT_THAT(e.what(), HasSubstr("a candidate 0 that differs"));
    EXPECT_THAT(e.what(), HasSubstr("former build"));
    EXPECT_THAT(e.what(), HasSubstr("this build"));
  }
}

}  // namespace
}  // namespace culmen
