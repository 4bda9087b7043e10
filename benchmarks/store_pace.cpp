// store_pace STORE EVALUATIONS: the journal's writer alone. It gets records as fast as it makes them durable, with at
// most 4096 on the way. The records are asks of 256 candidates with 10 parameters, their outcomes, and a tell for each
// 50. One JSON line: evaluations a second in the first and in the last tenth, the longest pause between two commits,
// and the time of close(). It also has the size of the largest write-ahead log, and the CPU time of the writer's thread
// for an evaluation.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/store/writer.hpp"

namespace {
using namespace culmen;

constexpr std::uint64_t asked = 256, told = 50, parameters = 10, most_on_the_way = 4096;

struct Pace {  // the writer's thread writes it
  double last_commit_s = 0, longest_pause_s = 0, writer_cpu_s = 0;
  std::uintmax_t log_bytes = 0;
  std::atomic<std::uint64_t> commits = 0;
};

double now_s() { return SteadyClock().now_s(); }

double thread_cpu_s() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void look(Pace& pace, const std::string& log) {
  const double now = now_s();
  if (pace.last_commit_s > 0) pace.longest_pause_s = std::max(pace.longest_pause_s, now - pace.last_commit_s);
  pace.last_commit_s = now;
  pace.writer_cpu_s = thread_cpu_s();
  std::error_code none;
  const auto bytes = std::filesystem::file_size(log, none);
  if (!none) pace.log_bytes = std::max(pace.log_bytes, bytes);
  ++pace.commits;
  pace.commits.notify_one();
}

void wait_for_room(const Writer& writer, const Pace& pace, std::uint64_t pushed) {
  for (;;) {
    const auto commits = pace.commits.load();
    if (pushed - writer.durable() < most_on_the_way || !writer.error().empty()) return;
    pace.commits.wait(commits);
  }
}

CallRecord ask(EvaluationId first) {
  CallRecord call;
  call.wanted = asked;
  for (std::uint64_t k = 0; k < asked; ++k)
    call.candidates.push_back({first + k, std::vector<double>(parameters, 1.0 / static_cast<double>(first + k + 1))});
  return call;
}

/// Returns the last ticket.
std::uint64_t push_evaluation(Writer& writer, EvaluationId id) {
  if (id % asked == 0) writer.push(ask(id));
  const auto ticket = writer.push(OutcomeRecord{id, 1, 0, 0, 1e9, Outcome::of_value(1.0)});
  if ((id + 1) % told != 0) return ticket;
  CallRecord tell;
  tell.kind = CallKind::tell;
  for (auto k = id + 1 - told; k <= id; ++k) tell.ids.push_back(k);
  return writer.push(std::move(tell));
}

void measure(const std::string& path, std::uint64_t evaluations) {
  Pace pace;
  Writer writer(Journal::create(path, {"pace", "{}", "0", "0", 0}, Durability::process),
                [&] { look(pace, path + "-wal"); });
  std::vector<double> tenths{now_s()};
  for (EvaluationId id = 0; id < evaluations; ++id) {
    wait_for_room(writer, pace, push_evaluation(writer, id));
    if ((id + 1) % (evaluations / 10) == 0) tenths.push_back(now_s());
  }
  const double before_close = now_s();
  writer.close();
  const double closed = now_s();
  const auto rate = [&](std::size_t k) { return static_cast<double>(evaluations) / 10 / (tenths[k] - tenths[k - 1]); };
  fmt::print(
      "{{\"rate\": {:.0f}, \"first_tenth_rate\": {:.0f}, \"last_tenth_rate\": {:.0f}, \"longest_pause_ms\": {:.1f}, "
      "\"close_ms\": {:.1f}, \"log_mib\": {:.1f}, \"writer_cpu_us\": {:.3f}}}\n",
      static_cast<double>(evaluations) / (before_close - tenths[0]), rate(1), rate(10), 1e3 * pace.longest_pause_s,
      1e3 * (closed - before_close), static_cast<double>(pace.log_bytes) / 1048576,
      1e6 * pace.writer_cpu_s / static_cast<double>(evaluations));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: store_pace STORE EVALUATIONS\n");
    return 2;
  }
  try {
    measure(argv[1], std::stoull(argv[2]));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "store_pace: {}\n", e.what());
    return 1;
  }
}
