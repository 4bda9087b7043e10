// A source that ends its study: after that it is asked nothing, and every candidate has ended.
#include <gtest/gtest.h>

#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_cluster.hpp"

namespace culmen {
namespace {

class Converging final : public Optimizer {
 public:
  explicit Converging(std::uint64_t after) : after_(after) {}
  Mode mode() const override { return Mode::asynchronous; }
  std::string name() const override { return "converging"; }
  bool converged() const override { return ended_ >= after_; }
  bool can_converge() const override { return true; }
  std::uint64_t open() const { return asked() - ended_ - cancelled_; }
  bool asked_after_its_end() const { return asked_after_its_end_; }

 private:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    asked_after_its_end_ |= converged();
    for (; n > 0; --n) out.push_back({0, {.5}});
  }
  void do_tell(EvaluationId, const Outcome&) override { ++ended_; }
  void do_cancel(EvaluationId) override { ++cancelled_; }

  const std::uint64_t after_;
  std::uint64_t ended_ = 0, cancelled_ = 0;
  bool asked_after_its_end_ = false;
};

TEST(Engine, asks_nothing_after_its_source_has_converged) {
  const Space space{real("x", 0, 1)};
  for (const std::uint64_t after : {1, 2, 7, 50}) {
    VirtualClock clock;
    VirtualCluster cluster({}, clock, [](const culmen::SetUp&) {
      return make_function_evaluator([](const std::vector<double>&) { return Outcome::of_value(1); });
    });
    EngineOptions options;
    options.broker.mode = Mode::asynchronous;
    options.broker.rules.evaluations = 1000;
    options.set_up = encode(culmen::SetUp{space, {}});
    Converging source(after);
    Engine engine(source, clock, options);
    const auto result = engine.run(cluster, nullptr);
    EXPECT_EQ(result.reason, StopReason::converged);
    EXPECT_EQ(result.counts.told, after);
    EXPECT_FALSE(source.asked_after_its_end()) << after;
    EXPECT_EQ(source.open(), 0u) << after;
  }
}

}  // namespace
}  // namespace culmen
