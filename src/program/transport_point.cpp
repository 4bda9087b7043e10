#include "transport_point.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "culmen/base/executable.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/crew/network_workers.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/transport/network/scheme.hpp"
#include "culmen/worker/core/library_evaluator.hpp"
#include "timed_source.hpp"

namespace culmen {
namespace {

constexpr std::size_t parameters = 10, rounds = 8;
constexpr double lognormal_spread = 0.5;
constexpr double longest_start_s = 300, look_every_s = 0.002;

struct Point {
  std::string transport, cost, library;
  std::size_t workers = 1, io_threads = 1;
  double duration_s = 0, seconds = 0;
  bool prefetch = true;
  bool joins() const { return find_scheme(transport) != nullptr; }
};

Point parse(char** words) {
  Point p;
  p.transport = words[0];
  p.workers = std::stoul(words[1]);
  p.cost = words[2];
  p.duration_s = std::stod(words[3]);
  p.prefetch = std::string(words[4]) == "1";
  p.io_threads = std::stoul(words[5]);
  p.seconds = std::stod(words[6]);
  p.library = words[7];
  return p;
}

std::string symbol_of(const std::string& cost) { return cost == "busy" ? "culmen_cost_busy" : "culmen_cost_sleep"; }

StudyConfig study_of(const std::string& cost, const std::string& library) {
  StudyConfig c;
  std::vector<Parameter> all{real("seconds", 0, 1e9)};
  while (all.size() < parameters) all.push_back(real(fmt::format("p{}", all.size()), 0, 1));
  c.space = Space(all);
  c.optimizer = "random";
  c.evaluator.isolation = Isolation::none;
  c.evaluator.how = LibrarySpec{library + ":" + symbol_of(cost)};
  c.fingerprint = fingerprint_of(c);
  return c;
}

RunOptions options_of(const Point& p) {
  RunOptions o;
  o.prefetch = p.prefetch;
  if (p.joins()) {
    o.listening.address = p.transport + "://127.0.0.1:0";
    o.listening.io_threads = p.io_threads;
    return o;
  }
  o.workers = p.workers;
  o.place = p.transport == "mpi" ? "mpi" : "processes";
  return o;
}

/// The duration of an evaluation that nothing disturbs: the shortest of 3 to 20 of them, in about half a second. Ranks
/// of MPI may still be starting, so that longer ones were disturbed.
double lone_s(const Point& p) {
  const auto study = study_of(p.cost, p.library);
  const auto evaluator = make_library_evaluator({study.space, study.evaluator});
  const Candidate candidate{.x = std::vector<double>(parameters, p.duration_s)};
  const auto times = static_cast<std::size_t>(std::clamp(0.5 / p.duration_s, 3.0, 20.0));
  const SteadyClock clock;
  auto shortest_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < times; ++i) {
    const auto begin = clock.now_s();
    evaluator->evaluate(candidate, 0);
    shortest_s = std::min(shortest_s, clock.now_s() - begin);
  }
  return shortest_s;
}

/// Workers of one slot each, as processes.
class Joiners {
 public:
  Joiners(const Point& p, const Run::Door& door) {
    if (!p.joins()) return;
    SpawnRequest request;
    request.command = {find_executable(), "__point_worker", door.address, door.fingerprint, p.cost, p.library};
    for (std::size_t i = 0; i < p.workers; ++i) processes_.push_back(spawn(request));
  }
  ~Joiners() {
    for (const auto process : processes_) reap(process);
  }

 private:
  std::vector<pid_t> processes_;
};

/// Tells the source when all workers are there; stops the run if they do not come.
void await_workers(Run& run, TimedSource& source, std::size_t workers) {
  const SteadyClock clock;
  const auto until = clock.now_s() + longest_start_s;
  for (auto p = run.progress(); p.phase != Phase::done; p = run.progress()) {
    if (p.workers >= workers) return source.all_are_there();
    if (clock.now_s() > until) return run.stop();
    std::this_thread::sleep_for(std::chrono::duration<double>(look_every_s));
  }
}

int report(const Point& p, const TimedSource& source, const StudyResult& result, double lone, double whole_s) {
  const auto steady = source.steady_state();
  const auto& counts = result.counts;
  if (steady.evaluations == 0 || source.wrong() > 0 || counts.failed > 0) {
    fmt::print(stderr, "culmen: {} evaluations, {} of them wrong, {} lost, {} in the steady state: {}\n", source.told(),
               source.wrong(), counts.lost, steady.evaluations, result.message);
    return 1;
  }
  fmt::print(
      "{{\"evaluations\": {}, \"whole_s\": {:.6f}, \"items\": {}, \"steady_s\": {:.6f}, \"work_s\": {:.6f}, "
      "\"lone_s\": {:.9f}, \"retried\": {}, \"lost\": {}}}\n",
      source.told(), whole_s, steady.evaluations, steady.seconds, steady.durations_s * lone / p.duration_s, lone,
      counts.retried, counts.lost);
  return 0;
}

int measure(const Point& p) {
  const auto lone = lone_s(p);
  const SteadyClock clock;
  const auto begin = clock.now_s();
  const Load load{.mean_s = p.duration_s,
                  .spread = p.cost == "lognormal" ? lognormal_spread : 0,
                  .workers = p.workers,
                  .at_least_s = p.seconds,
                  .rounds = rounds,
                  .parameters = parameters};
  const auto source = std::make_shared<TimedSource>(load, clock);
  dismiss_with_result();
  Run run(study_of(p.cost, p.library), options_of(p), source);
  run.prepare();
  StudyResult result;
  {
    const Joiners joiners(p, run.door());
    std::thread watcher([&] { await_workers(run, *source, p.workers); });
    run.execute();
    watcher.join();
    result = run.conclude();
  }
  const auto whole_s = clock.now_s() - begin;
  return report(p, *source, result, lone, whole_s);
}

}  // namespace

int point_main(int argc, char** argv) {
  if (argc != 10) return 2;
  int code = 1;
  try {
    code = measure(parse(argv + 2));
  } catch (const std::exception& e) {
    fmt::print(stderr, "culmen: {}\n", e.what());
  }
  finalize_world(code);
  return code;
}

int point_worker_main(int argc, char** argv) {
  if (argc != 6) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Joining joining;
  joining.address = argv[2];
  joining.fingerprint = argv[3];
  NetworkWorkers(study_of(argv[4], argv[5]), joining).run();
  return 0;
}

}  // namespace culmen
