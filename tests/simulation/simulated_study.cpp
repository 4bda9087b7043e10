#include "simulation/simulated_study.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "culmen/evaluation/codec.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/simulation/virtual_jobs.hpp"
#include "modelled.hpp"

namespace culmen::testing {
namespace {

constexpr double writer_delay_s = 0.005;

const Space space{real("x", -5, 5), real("y", 1e-3, 1e3, Scale::log), integer("n", 0, 9)};

// Fails for some candidates, always the same ones.
Outcome cost(const std::vector<double>& x) {
  if (hash_of({0, x}) % 17 == 0) return Outcome::failure(Status::failed, "unlucky");
  const double ly = std::log(x[1]);
  return Outcome::of_value(x[0] * x[0] + ly * ly + (x[2] - 4) * (x[2] - 4));
}

// Passes everything on, notes what it saw, and checks that the journal came first.
class WatchedOptimizer final : public Optimizer {
 public:
  WatchedOptimizer(std::unique_ptr<Optimizer> inner, std::vector<Seen>& seen, std::vector<std::string>& violations)
      : inner_(std::move(inner)), seen_(seen), violations_(violations) {
    seen_.clear();
    inner_->hand_out_jobs();
  }
  void watch(const LossyRecorder* recorder) { recorder_ = recorder; }
  Mode mode() const override { return inner_->mode(); }
  bool finished() const override { return inner_->finished(); }
  std::string name() const override { return inner_->name(); }
  void resize(std::size_t workers) override { inner_->resize(workers); }

 protected:
  void do_ask(std::size_t n, std::vector<Candidate>& out) override {
    const auto before = out.size();
    inner_->ask(n, out);
    for (auto i = before; i < out.size(); ++i) seen_.push_back({true, out[i].id, out[i].x});
  }
  void do_tell(EvaluationId id, const Outcome& outcome) override {
    if (recorder_ != nullptr && known_.count(id) == 0 && recorder_->durable_outcomes().count(id) == 0) {
      violations_.push_back("evaluation " + std::to_string(id) + " was told before it was durable");
    }
    seen_.push_back({false, id, {outcome.ok() ? outcome.value : -1}});
    inner_->tell(id, outcome);
  }
  void do_cancel(EvaluationId id) override { inner_->cancel(id); }
  std::function<Bytes()> do_job() override {
    auto job = inner_->next_job();
    if (!job) return {};
    inner_job_ = job->id;
    return std::move(job->work);
  }
  void do_adopt(const Bytes& result) override { inner_->adopt(inner_job_, result); }

 public:
  std::set<EvaluationId> known_;  // outcomes that the journal held before this master

 private:
  std::unique_ptr<Optimizer> inner_;
  JobId inner_job_ = 0;
  std::vector<Seen>& seen_;
  std::vector<std::string>& violations_;
  const LossyRecorder* recorder_ = nullptr;
};

std::unique_ptr<Optimizer> made_for(const SimulationPlan& plan) {
  if (plan.optimizer == "modelled") return std::make_unique<Modelled>(space, 5, plan.mode);
  return make_optimizer(plan.optimizer, space, 5, {}, {.mode = plan.mode});
}

class Simulation {
 public:
  explicit Simulation(const SimulationPlan& plan)
      : plan_(plan),
        cluster_(plan.cluster, clock_, [](const SetUp&) { return make_function_evaluator(cost); }),
        dice_(plan.cluster.seed, 79) {}

  SimulationResult run() {
    while (!live_once()) cluster_.restart();
    out_.faults = cluster_.faults();
    return std::move(out_);
  }

 private:
  // One master's life; true when the study came to its end.
  bool live_once() {
    ++out_.masters;
    auto journal = out_.masters == 1
                       ? Journal::create(plan_.store, {"simulated", "{}", "0", "test", 0}, Durability::process)
                       : Journal::resume(plan_.store, Durability::process);
    WatchedOptimizer optimizer(made_for(plan_), out_.seen, out_.violations);
    Engine engine(optimizer, clock_, engine_options(journal.epoch()));
    engine.expect_visitors(0);  // no worker that is lost in its set-up ends the study
    engine.replay(journal);
    journal.outcomes(0, [&](const OutcomeRecord& r) { optimizer.known_.insert(r.evaluation); });
    LossyRecorder recorder(std::move(journal));
    optimizer.watch(&recorder);
    engine.start(cluster_, &recorder);
    while (!engine.stopped()) {
      if (dice_.uniform() < plan_.master_dies) return false;
      if (engine.turn()) continue;
      if (recorder.behind() && dice_.uniform() < plan_.commits_early) recorder.commit();
      else cluster_.sleep(recorder.behind() ? std::min(engine.patience_s(), writer_delay_s) : engine.patience_s());
    }
    if (dice_.uniform() < plan_.dies_at_end) {
      recorder.commit();
      return false;
    }
    out_.result = engine.finish();
    return true;
  }

  EngineOptions engine_options(Epoch epoch) {
    EngineOptions o;
    o.broker.rules.evaluations = plan_.evaluations;
    o.broker.rules.target = plan_.target;
    o.broker.failures.lost_workers = plan_.lost_workers;
    o.broker.needs_workers = false;
    o.visitors_are_to_blame = !plan_.visitors;
    o.set_up = encode(SetUp{space, {}});
    o.epoch = epoch;
    o.build = "test";
    o.jobs = std::make_shared<VirtualJobs>(cluster_, clock_, plan_.mean_job_s, plan_.cluster.seed + epoch);
    return o;
  }

  const SimulationPlan& plan_;
  VirtualClock clock_;
  VirtualCluster cluster_;
  Random dice_;
  SimulationResult out_;
};

}  // namespace

SimulationResult simulate(const SimulationPlan& plan) { return Simulation(plan).run(); }

std::vector<Seen> replayed(const SimulationPlan& plan, std::vector<std::string>& violations) {
  std::vector<Seen> seen;
  WatchedOptimizer optimizer(made_for(plan), seen, violations);
  const auto journal = Journal::read(plan.store);
  journal.replay([&](const CallRecord& call) {
    std::vector<Candidate> given;
    if (call.kind == CallKind::resize) optimizer.resize(call.wanted);
    if (call.kind == CallKind::ask) {
      optimizer.ask(call.wanted, given);
      if (given != call.candidates) violations.push_back("an ask for " + std::to_string(call.wanted) + " differs");
    }
    for (const auto id : call.ids) {
      if (call.kind == CallKind::cancel) optimizer.cancel(id);
      else optimizer.tell(id, std::as_const(journal.outcome(id)->outcome));
    }
  });
  return seen;
}

}  // namespace culmen::testing
