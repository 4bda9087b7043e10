// study_rate WORKERS EVALUATIONS [--sleep-us N] [--store FILE] [--command PROGRAM --folder FOLDER]: a whole study as a
// user would run it (random search, 10 parameters), watched from a second thread. It evaluates a C function (one that
// does nothing, or sleeps) without isolation in native worker processes, or an external command in worker threads. One
// JSON line: evaluations a second between a tenth and nine tenths of the budget, in the first and in the last tenth;
// growth of resident memory in the second half. As a rank of an MPI launch it uses the other ranks, and WORKERS is only
// what is expected; CULMEN_BENCH_SLEEP_US must then be set for all ranks. Exit code 1 when an evaluation was lost,
// repeated or answered wrongly.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "culmen/base/error.hpp"
#include "culmen/study/config/fingerprint.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/transport/mpi/launcher.hpp"

namespace {

using namespace culmen;

struct Request {
  std::size_t workers = 0;
  std::uint64_t evaluations = 0;
  std::string sleep_us = "0", store, command, folder;
};

struct Mark {
  double at_s;
  std::uint64_t told;
};

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * 4096 / 1048576;
}

Request parse(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0)
    throw InputError(
        "usage: study_rate WORKERS EVALUATIONS [--sleep-us N] [--store FILE] [--command PROGRAM --folder FOLDER]");
  Request r;
  r.workers = std::stoull(argv[1]);
  r.evaluations = std::stoull(argv[2]);
  const std::map<std::string, std::string*> options{
      {"--sleep-us", &r.sleep_us}, {"--store", &r.store}, {"--command", &r.command}, {"--folder", &r.folder}};
  for (int i = 3; i < argc; i += 2) {
    const auto option = options.find(argv[i]);
    if (option == options.end()) throw InputError(fmt::format("there is no option {}", argv[i]));
    *option->second = argv[i + 1];
  }
  return r;
}

StudyConfig study_of(const Request& request) {
  StudyConfig c;
  std::vector<Parameter> parameters;
  for (int i = 0; i < 10; ++i) parameters.push_back(real("p" + std::to_string(i), -1, 1));
  c.space = Space(parameters);
  c.optimizer = "random";
  c.stop.evaluations = request.evaluations;
  c.failures.give_up_after = 0;  // `true` prints no value
  if (!request.command.empty()) {
    c.evaluator.how = CommandSpec{.command = {request.command}};
    c.evaluator.working_folder = request.folder;
  } else {
    c.evaluator.isolation = Isolation::none;
    c.evaluator.how =
        LibrarySpec{std::string(STUDY_FUNCTION) + (request.sleep_us == "0" ? ":answer" : ":sleep_and_answer")};
    setenv("CULMEN_BENCH_SLEEP_US", request.sleep_us.c_str(), 1);
  }
  c.fingerprint = fingerprint_of(c);
  return c;
}

// Looks at the study every 2 ms, from when all workers are there until it is done; memory is noted at the first look
// after half of the budget.
std::vector<Mark> watch(const Run& run, const Request& request, double& memory_mib) {
  std::vector<Mark> marks;
  memory_mib = 0;
  for (auto p = run.progress(); p.phase != Phase::done; p = run.progress()) {
    const bool all_there = p.workers == request.workers && p.told_here > 0;
    if (all_there && (marks.empty() || marks.back().told != p.told_here)) marks.push_back({now_s(), p.told_here});
    if (memory_mib == 0 && p.told_here >= request.evaluations / 2) memory_mib = resident_mib();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return marks;
}

// Evaluations a second between two shares of the told evaluations.
double rate(const std::vector<Mark>& marks, double from, double to) {
  const auto first = static_cast<double>(marks.front().told), all = static_cast<double>(marks.back().told) - first;
  Mark a = marks.front(), b = marks.front();
  for (const auto& m : marks) {
    const double share = (static_cast<double>(m.told) - first) / all;
    if (share <= from) a = m;
    if (share <= to) b = m;
  }
  return b.told > a.told ? static_cast<double>(b.told - a.told) / (b.at_s - a.at_s) : 0;
}

bool whole(const Request& request, const StudyResult& r) {
  if (r.reason != StopReason::evaluations || r.counts.told != request.evaluations || r.counts.lost != 0 ||
      r.counts.retried != 0)
    return false;
  if (!request.command.empty()) return r.counts.failed == request.evaluations || (r.counts.failed == 0 && r.has_best);
  return r.counts.failed == 0 && r.has_best && r.best_outcome.value == r.best.x[0];
}

int measure(const Request& request) {
  RunOptions options;
  options.workers = request.workers;
  options.place = !request.command.empty() ? "threads" : detect_launch().is_rank() ? "mpi" : "processes";
  options.store = request.store;
  dismiss_with_result();
  Run run(study_of(request), options);
  run.prepare();
  std::vector<Mark> marks;
  double memory = 0;
  std::thread watcher([&] { marks = watch(run, request, memory); });
  run.execute();
  watcher.join();
  const double growth = resident_mib() - memory;
  const auto result = run.conclude();
  std::vector<double> tenths;
  for (int i = 0; i < 10 && !marks.empty(); ++i) tenths.push_back(rate(marks, i / 10., (i + 1) / 10.));
  if (!whole(request, result) || marks.size() < 20) {
    fmt::print(stderr, "study_rate: {} of {} evaluations told, {} failed, {} retried, {} lost, seen {} times: {}\n",
               result.counts.told, request.evaluations, result.counts.failed, result.counts.retried, result.counts.lost,
               marks.size(), result.message);
    return 1;
  }
  fmt::print(
      "{{\"rate\": {:.1f}, \"first_tenth_rate\": {:.1f}, \"last_tenth_rate\": {:.1f}, \"memory_growth_mib\": "
      "{:.3f}, \"tenths\": [{:.0f}]}}\n",
      rate(marks, .1, .9), rate(marks, 0, .1), rate(marks, .9, 1), growth, fmt::join(tenths, ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (detect_launch().rank > 0) return rank_main();
  try {
    const auto code = measure(parse(argc, argv));
    finalize_world(code);
    return code;
  } catch (const std::exception& e) {
    fmt::print(stderr, "study_rate: {}\n", e.what());
    return 2;
  }
}
