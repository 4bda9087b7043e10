#include "culmen/engine/jobs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>

#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/simulation/virtual_jobs.hpp"
#include "modelled.hpp"

namespace culmen {
namespace {

const Space space{real("x", -1, 1), real("y", -1, 1)};

double sphere(const std::vector<double>& x) { return x[0] * x[0] + x[1] * x[1]; }

// Runs an optimizer's jobs on a virtual clock, on which they take longer than evaluations do.
class Setting {
 public:
  EngineResult run(Optimizer& optimizer, double mean_job_s = 5) {
    EngineOptions o;
    o.broker.rules.evaluations = 60;
    o.set_up = encode(SetUp{space, {}});
    o.jobs = std::make_shared<VirtualJobs>(cluster_, clock_, mean_job_s, 1);
    Engine engine(optimizer, clock_, o);
    return engine.run(cluster_, nullptr);
  }
  std::map<std::uint64_t, std::vector<double>> evaluated;  // by hash_of

 private:
  VirtualClock clock_;
  VirtualCluster cluster_{{}, clock_, [this](const SetUp&) {
                            return make_function_evaluator([this](const std::vector<double>& x) {
                              evaluated[hash_of({0, x})] = x;
                              return Outcome::of_value(sphere(x));
                            });
                          }};
};

TEST(Jobs, are_done_within_ask_where_nobody_takes_them_and_the_candidates_are_the_same) {
  Setting setting;
  Modelled beside(space, 3), alone(space, 3);
  EXPECT_EQ(setting.run(beside).reason, StopReason::evaluations);
  std::map<std::uint64_t, std::vector<double>> evaluated;
  while (evaluated.size() < 60) {
    std::vector<Candidate> some;
    ASSERT_GT(alone.ask(60 - evaluated.size(), some), 0u);
    for (const auto& c : some) {
      evaluated[hash_of({0, c.x})] = c.x;
      alone.tell(c.id, Outcome::of_value(sphere(c.x)));
    }
  }
  EXPECT_EQ(setting.evaluated, evaluated);
}

TEST(Jobs, one_that_throws_ends_the_study_with_its_sentence) {
  Setting setting;
  Modelled optimizer(space, 3, Mode::generational, 2);
  const auto result = setting.run(optimizer);
  EXPECT_EQ(result.reason, StopReason::error);
  EXPECT_EQ(result.message, "the model cannot be fitted");
  EXPECT_EQ(result.counts.told, 14u);
}

TEST(Jobs, an_asynchronous_optimizer_serves_from_its_last_model_meanwhile) {
  Setting setting;
  Modelled optimizer(space, 3, Mode::asynchronous);
  EXPECT_EQ(setting.run(optimizer, 1e9).reason, StopReason::evaluations);
}

TEST(Jobs, only_the_one_that_is_out_can_be_adopted) {
  Modelled optimizer(space, 3);
  optimizer.hand_out_jobs();
  const auto job = optimizer.next_job();
  ASSERT_TRUE(job);
  EXPECT_FALSE(optimizer.next_job());
  EXPECT_THROW(optimizer.adopt(job->id + 1, {}), InputError);
  optimizer.adopt(job->id, job->work());
  EXPECT_THROW(optimizer.adopt(job->id, {}), InputError);
}

TEST(JobThread, runs_a_job_beside_its_caller_and_says_when_it_is_done) {
  std::promise<void> go, done;
  JobThread thread([&] { done.set_value(); });
  thread.start({4, [&] {
                  go.get_future().wait();
                  return Bytes(3);
                }});
  EXPECT_FALSE(thread.take());
  go.set_value();
  done.get_future().wait();
  const auto result = thread.take();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->id, 4u);
  EXPECT_EQ(result->bytes.size(), 3u);
  EXPECT_FALSE(thread.take());
}

TEST(JobThread, waits_for_the_job_under_way_when_it_ends) {
  std::atomic<bool> ended{false};
  {
    JobThread thread([] {});
    thread.start({0, [&]() -> Bytes {
                    ended = true;
                    throw std::runtime_error("");
                  }});
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace culmen
