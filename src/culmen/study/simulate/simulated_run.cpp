#include "culmen/study/simulate/simulated_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "culmen/base/cpu_time.hpp"
#include "culmen/base/error.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/simulation/modelled_jobs.hpp"
#include "culmen/simulation/modelled_writer.hpp"
#include "culmen/study/config/broker_options.hpp"
#include "culmen/study/config/build.hpp"
#include "culmen/study/config/mode.hpp"
#include "culmen/study/config/search.hpp"

namespace culmen {
namespace {

constexpr std::size_t most_workers = 10'000'000;

void check(const SimulationPlan& plan) {
  const auto& c = plan.cluster;
  if (c.workers < 1 || c.workers > most_workers)
    throw InputError(
        fmt::format("the number of simulated workers must be from 1 to {}, got {}", most_workers, c.workers));
  if (c.workers_per_node < 1) throw InputError("a simulated node must have at least 1 worker, got 0");
  const auto& n = c.network;
  for (const auto& [name, value] : {std::pair{"latency_s", n.latency_s},
                                    {"message_s", n.message_s},
                                    {"wake_s", n.wake_s},
                                    {"frame_s", n.frame_s},
                                    {"row_s", n.row_s},
                                    {"commit_s", n.commit_s}})
    if (!(value >= 0) || std::isinf(value))
      throw InputError(fmt::format("{} must be at least 0 and finite, got {}", name, value));
  if (!(n.bandwidth_bytes_s > 0))
    throw InputError(fmt::format("bandwidth_bytes_s must be above 0, got {}", n.bandwidth_bytes_s));
}

StudyConfig settled(StudyConfig config, std::size_t workers) {
  if (config.stop.evaluations == 0)
    throw InputError(
        "the study has no limit of evaluations, so its simulation would not end; give the number of evaluations");
  choose_optimizer(config);
  settle_mode(config, workers);
  StopRules rules;
  rules.evaluations = config.stop.evaluations;
  config.stop = rules;
  return config;
}

std::unique_ptr<Optimizer> search_of(const StudyConfig& config) {
  auto search = make_search(config, config.stop.evaluations);
  if (const auto library = search->library(); !library.empty())
    throw InputError(
        fmt::format("the optimizer {} belongs to another library ({}); only culmen's own optimizers can be simulated",
                    config.optimizer, library));
  return search;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

struct SimulatedRun::Impl {
  Impl(StudyConfig given, SimulationPlan planned)
      : plan(std::move(planned)),
        config((check(plan), settled(std::move(given), plan.cluster.workers))),
        durations(plan.durations),
        source(search_of(config)),
        worker([this](const SetUp& set_up) { return make_surrogate(plan.function, set_up, durations); }),
        cluster(plan.cluster, durations, clock, worker),
        writer(plan.cluster.network, cluster, clock),
        jobs(std::make_shared<ModelledJobs>(cluster, clock)),
        engine(*source, clock, engine_options()) {}

  EngineOptions engine_options() const {
    EngineOptions o;
    o.broker = broker_options_of(config, *source, plan.prefetch);
    o.set_up = encode(SetUp{config.space, config.evaluator, config.goals});
    o.build = build_description();
    o.jobs = jobs;
    return o;
  }

  void live() {
    engine.start(cluster, &writer);
    while (!engine.stopped()) {
      settle();
      const double before_s = thread_cpu_s();
      const bool any = engine.turn();
      const double took_s = thread_cpu_s() - before_s - jobs->take_cpu_s();
      const double fixed_s = plan.master_s * static_cast<double>(cluster.delivered());
      cluster.worked(plan.master_s < 0 ? std::max(0.0, took_s) : fixed_s);
      if (!any) settle(), cluster.sleep(engine.patience_s());
    }
  }

  void settle() {
    writer.settle();
    cluster.settle();
  }

  SimulationFigures figures() const {
    const auto end = cluster.now();
    const bool steady = config.stop.evaluations > plan.cluster.workers;
    const auto from = steady ? cluster.full() : ClusterMoment{};
    const auto to = steady ? cluster.last_sent() : end;
    const auto workers = static_cast<double>(plan.cluster.workers);
    const double steady_s = std::max(0.0, to.at_s - from.at_s);
    SimulationFigures f;
    f.nodes = plan.cluster.nodes();
    f.first_relays = cluster.first_relays();
    f.mode = mode_of(config);
    f.wall_s = end.at_s;
    f.utilisation = share(end.evaluated_s, workers * end.at_s);
    f.steady_s = steady_s;
    f.steady_utilisation = share(to.evaluated_s - from.evaluated_s, workers * steady_s);
    // At first all evaluations begin together, so that counting those that end would favour the short ones.
    const double mean_s = share(end.evaluated_s, static_cast<double>(end.ended));
    f.steady_rate = share(share(to.evaluated_s - from.evaluated_s, mean_s), steady_s);
    f.master_load = share(to.master_s - from.master_s, steady_s);
    f.line_load = share(to.line_s - from.line_s, steady_s);
    f.writer_load = share(writer.worked_s(), end.at_s);
    f.relay_load = share(cluster.busiest_relay_s(), end.at_s);
    f.most_running = cluster.most_running();
    f.frames_per_message = share(static_cast<double>(end.relayed), static_cast<double>(end.messages));
    return f;
  }

  SimulationPlan plan;
  StudyConfig config;
  Durations durations;
  VirtualClock clock;
  std::unique_ptr<Optimizer> source;
  Worker worker;
  ModelledCluster cluster;
  ModelledWriter writer;
  std::shared_ptr<ModelledJobs> jobs;
  Engine engine;
};

SimulatedRun::SimulatedRun(StudyConfig config, SimulationPlan plan)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(plan))) {}
SimulatedRun::~SimulatedRun() = default;

SimulationFigures SimulatedRun::run() {
  const double before_s = thread_cpu_s();
  impl_->live();
  auto f = impl_->figures();
  const auto result = impl_->engine.finish();
  if (result.reason == StopReason::error) throw Error(result.message);
  f.reason = result.reason;
  f.evaluations = result.counts.told;
  f.simulated_in_s = thread_cpu_s() - before_s;
  return f;
}

void SimulatedRun::stop() noexcept { impl_->engine.request_stop(); }
Progress SimulatedRun::progress() const { return impl_->engine.progress(); }

}  // namespace culmen
