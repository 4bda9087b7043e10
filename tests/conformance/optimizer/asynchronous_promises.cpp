#include <fmt/format.h>

#include <cmath>

#include "conformance/optimizer/driver.hpp"
#include "conformance/optimizer/live_memory.hpp"
#include "conformance/optimizer/optimizer_conformance.hpp"
#include "culmen/base/random.hpp"

namespace culmen::conformance {
namespace {
std::string says_so(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  return make(space, seed)->generational() ? "it is generational" : "";
}

/// Ends one that is open: mostly told, with a duration, some as failed; or cancelled.
void end(Optimizer& optimizer, const Space& space, const Candidate& c, Random& random) {
  const auto dice = random.below(20);
  if (dice == 0) return optimizer.cancel(c.id);
  auto outcome = dice == 1 ? Outcome::failure(Status::timed_out, "10 s") : outcome_of(space, c.x);
  outcome.duration_s = -std::log(1 - random.uniform());
  optimizer.tell(c.id, outcome);
}

/// Asks for `n` candidates and appends them to `open`. Returns why they break the promise, or an empty string.
std::string asked_in_full(Optimizer& optimizer, const Space& space, std::size_t n, std::vector<Candidate>& open) {
  const auto before = open.size();
  const auto got = optimizer.ask(n, open);
  if (got < n && !optimizer.finished()) return fmt::format("asked for {} with {} open, {} came", n, before, got);
  for (auto k = before; k < open.size(); ++k) {
    if (auto why = misplaced(space, open[k].x); !why.empty()) return fmt::format("candidate {}: {}", open[k].id, why);
  }
  return "";
}

/// Whatever has been told, and however much is open.
std::string served_in_full(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  Random random(seed, 1);
  const auto optimizer = make(space, seed);
  std::vector<Candidate> open;
  while (optimizer->asked() < 3000 && !optimizer->finished()) {
    if (random.below(8) == 0) optimizer->resize(1 + random.below(100));
    const std::size_t n = random.below(4) == 0 ? 1 + random.below(300) : 1;
    if (auto why = asked_in_full(*optimizer, space, n, open); !why.empty()) return why;
    for (auto closing = random.below(open.size() > 500 ? 100 : 3); closing > 0 && !open.empty(); --closing) {
      std::swap(open[random.below(open.size())], open.back());
      end(*optimizer, space, open.back(), random);
      open.pop_back();
    }
  }
  return "";
}

/// A hundred results that come after thousands of others, last first.
std::string late_results_survived(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  Random random(seed, 2);
  const auto optimizer = make(space, seed);
  optimizer->resize(110);
  std::vector<Candidate> late, open;
  if (auto why = asked_in_full(*optimizer, space, 100, late); !why.empty()) return why;
  for (int phase = 0; phase < 2; ++phase) {
    for (int k = 0; k < 2000 && !optimizer->finished(); ++k) {
      if (auto why = asked_in_full(*optimizer, space, 1, open); !why.empty()) return why;
      if (open.empty()) break;
      end(*optimizer, space, open.back(), random);
      open.pop_back();
    }
    for (; !late.empty(); late.pop_back()) end(*optimizer, space, late.back(), random);
  }
  return "";
}

std::string stragglers_hold_no_memory(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  Random random(seed, 3);
  const auto optimizer = make(space, seed);
  optimizer->resize(40);
  std::vector<Candidate> stragglers, open;
  optimizer->ask(20, stragglers);
  MemoryWatch watch(*optimizer);
  do {
    if (open.empty()) optimizer->ask(20, open);
    if (open.empty()) return "";
    std::swap(open[random.below(open.size())], open.back());
    end(*optimizer, space, open.back(), random);
    open.pop_back();
  } while (!watch.told());
  return watch.leak();
}
}  // namespace

const std::vector<OptimizerPromise>& asynchronous_promises() {
  static const std::vector<OptimizerPromise> all{
      {"it says that it does not wait", says_so},
      {"an ask is served in full", served_in_full},
      {"late results are survived", late_results_survived},
      {"stragglers hold no memory", stragglers_hold_no_memory},
  };
  return all;
}

}  // namespace culmen::conformance
