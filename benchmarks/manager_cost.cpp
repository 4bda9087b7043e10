// manager_cost EVALUATIONS [STORE]: CPU time of engine, broker, optimizer (random, 10 parameters), codec and writer per
// evaluation, over a transport that answers inside the call. One JSON line: CPU microseconds an evaluation, the rate of
// the last tenth over that of the first, and the growth of resident memory.
#include <fmt/format.h>

#include <ctime>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "culmen/base/clock.hpp"
#include "culmen/engine/engine.hpp"
#include "culmen/evaluation/codec.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/store/writer.hpp"

namespace {

using namespace culmen;

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  long pages = 0, resident = 0;
  statm >> pages >> resident;
  return static_cast<double>(resident) * 4096 / 1048576;
}

// Answers every candidate with the same value, at once. Notes the CPU clock at each tenth.
class AnsweringTransport final : public Transport {
 public:
  AnsweringTransport(std::size_t workers, std::uint64_t evaluations) : tenth_(evaluations / 10) {
    for (WorkerId w = 0; w < workers; ++w) joining_.push_back(w);
    encode(Outcome::of_value(1), outcome_);
  }
  void send(WorkerId worker, const FrameHead& head, BytesView body) override {
    auto& answer = answers_.emplace_back();
    answer.worker = worker;
    answer.head = head;
    if (head.kind == FrameKind::set_up) {
      answer.head.kind = FrameKind::hello;
      return;
    }
    decode(body, candidate_);
    ByteWriter writer(answer.body);
    answer.body.reserve(sizeof(std::uint64_t) + outcome_.size());
    writer.u64(hash_of(candidate_));
    writer.raw(outcome_.data(), outcome_.size());
    answer.head.kind = FrameKind::result;
    if (++sent_ % tenth_ == 0) marks_.push_back({cpu_s(), resident_mib()});
  }
  bool receive(Sink& sink) override {
    if (joining_.empty() && answers_.empty()) return false;
    for (auto w : std::exchange(joining_, {})) sink.joined(w);
    for (auto n = answers_.size(); n > 0; --n) {
      const auto answer = std::move(answers_.front());
      answers_.pop_front();
      sink.arrived(answer.worker, answer.head, answer.body);
    }
    return true;
  }
  void sleep(double) override {
    awake_.wait(false);
    awake_ = false;
  }
  void wake() noexcept override {
    awake_ = true;
    awake_.notify_one();
  }
  void close(double) override {}

  struct Mark {
    double cpu_s, memory_mib;
  };
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  struct Answer {
    WorkerId worker = 0;
    FrameHead head;
    Bytes body;
  };
  std::vector<WorkerId> joining_;
  std::deque<Answer> answers_;
  Bytes outcome_;
  Candidate candidate_;
  std::uint64_t tenth_, sent_ = 0;
  std::vector<Mark> marks_;
  std::atomic<bool> awake_{false};
};

Space ten_parameters() {
  std::vector<Parameter> parameters;
  for (int i = 0; i < 10; ++i) parameters.push_back(real("p" + std::to_string(i), -1, 1));
  return Space(parameters);
}

int measure(std::uint64_t evaluations, const std::string& store) {
  const SteadyClock clock;
  const auto optimizer = make_optimizer("random", ten_parameters(), 1);
  AnsweringTransport transport(100, evaluations);
  EngineOptions options;
  options.broker.rules.evaluations = evaluations;
  Engine engine(*optimizer, clock, options);
  std::unique_ptr<Writer> writer;
  if (!store.empty())
    writer = std::make_unique<Writer>(Journal::create(store, {"cost", "{}", "0", "bench", 0}, Durability::process),
                                      [&] { transport.wake(); });
  const double before = cpu_s();
  engine.run(transport, writer.get());
  const double cost = (cpu_s() - before) / static_cast<double>(evaluations);
  const auto& m = transport.marks();
  const double first = m.at(0).cpu_s - before, last = m.at(9).cpu_s - m.at(8).cpu_s;
  fmt::print(
      "{{\"cpu_us_per_evaluation\": {:.4f}, \"last_tenth_rate_over_first\": {:.4f}, \"memory_growth_mib\": {:.2f}, "
      "\"evaluations\": {}}}\n",
      cost * 1e6, first / last, m.at(9).memory_mib - m.at(1).memory_mib, evaluations);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::stoull(argv[1]) < 10) {
    fmt::print(stderr, "usage: manager_cost EVALUATIONS [STORE], at least 10 evaluations\n");
    return 2;
  }
  return measure(std::stoull(argv[1]), argc > 2 ? argv[2] : "");
}
