// The main loop of culmen, without workers: ask for candidates, evaluate them, store the results, tell the optimizer.
//
// Usage: loop STORE. You may kill the program at any moment. The same command then resumes it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "culmen/base/clock.hpp"
#include "culmen/base/error.hpp"
#include "culmen/optimizer/core/optimizer.hpp"
#include "culmen/store/journal.hpp"

using namespace culmen;

namespace {

constexpr std::uint64_t budget = 3000;
const Space space{real("x", -5, 5), real("y", -5, 5)};

/// Rosenbrock's function. Its minimum is 0 at (1, 1).
Outcome evaluate(const std::vector<double>& p) {
  const double a = 1 - p[0], b = p[1] - p[0] * p[0];
  return Outcome::of_value(a * a + 100 * b * b);
}

Journal open_journal(const std::string& path) {
  if (std::filesystem::exists(path)) return Journal::resume(path, Durability::process);
  return Journal::create(path, {"loop", "", "loop-1", "example", wall_clock_s()}, Durability::process);
}

class Loop {
 public:
  explicit Loop(const std::string& path) : journal_(open_journal(path)), optimizer_(make_optimizer("cmaes", space, 1)) {
    journal_.replay([this](const CallRecord& call) { apply(call); });
  }

  void run() {
    while (told_ < budget && !optimizer_->finished()) {
      if (open_.empty()) ask();
      for (const auto& c : open_) {
        if (journal_.outcome(c.id)) continue;  // evaluated before a restart
        journal_.append(OutcomeRecord{c.id, journal_.epoch(), 0, 0, wall_clock_s(), evaluate(c.x)});
      }
      journal_.commit();  // outcomes must be stored before the optimizer uses them
      tell();
    }
    journal_.close();
    std::printf("best value %g after %llu evaluations\n", best_, static_cast<unsigned long long>(told_));
  }

 private:
  void ask() {
    CallRecord call;
    call.kind = CallKind::ask;
    call.wanted = budget - told_;
    apply(call);
    call.candidates = open_;
    journal_.append(call);
  }

  void tell() {
    CallRecord call;
    call.kind = CallKind::tell;
    for (const auto& candidate : open_) call.ids.push_back(candidate.id);
    apply(call);
    journal_.append(call);
  }

  /// Repeats a call to the optimizer after a restart, or makes a new one. A repeated call gives the same candidates.
  void apply(const CallRecord& call) {
    if (call.kind == CallKind::ask) optimizer_->ask(call.wanted, open_);
    if (call.kind != CallKind::tell) return;
    for (auto id : call.ids) {
      const auto outcome = journal_.outcome(id)->outcome;
      optimizer_->tell(id, outcome);
      best_ = std::min(best_, outcome.value);
    }
    told_ += call.ids.size();
    open_.clear();
  }

  Journal journal_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<Candidate> open_;  // the optimizer waits for their outcomes
  double best_ = std::numeric_limits<double>::infinity();
  std::uint64_t told_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    Loop(argc > 1 ? argv[1] : "loop.db").run();
    return 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "loop: %s\n", e.what());
    return 1;
  }
}
