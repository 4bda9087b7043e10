#include "conformance/optimizer/optimizer_conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "conformance/optimizer/driver.hpp"
#include "conformance/optimizer/live_memory.hpp"
#include "culmen/base/error.hpp"

namespace culmen::conformance {
std::string misplaced(const Space& space, const std::vector<double>& x) {
  if (x.size() != space.size()) return fmt::format("{} values for {} parameters", x.size(), space.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto& p = space[i];
    if (!(x[i] >= p.lower && x[i] <= p.upper))
      return fmt::format("'{}' = {} is outside [{}, {}]", p.name, x[i], p.lower, p.upper);
    if (p.discrete() && x[i] != std::floor(x[i])) return fmt::format("'{}' = {} is not whole", p.name, x[i]);
  }
  auto rested = x;
  space.rest_inactive(rested);
  return rested == x ? "" : "an inactive parameter is not at rest";
}

namespace {
constexpr std::size_t length = 1500;  // candidates per look

std::string difference(const Points& expected, const Points& seen) {
  const std::size_t n = std::min(expected.size(), seen.size());
  for (std::size_t k = 0; k < n; ++k) {
    if (expected[k] != seen[k]) return fmt::format("candidate {} differs", k);
  }
  return expected.size() == seen.size() ? "" : fmt::format("only {} candidates came", n);
}

/// The points of points_of(). If there are fewer and the optimizer has not finished, an empty one is added.
Points all_points(const OptimizerFactory& make, const Space& space, std::uint64_t seed, Manner manner,
                  std::uint64_t variation) {
  const auto optimizer = make(space, seed);
  auto points = points_of(*optimizer, space, length, manner, variation);
  if (points.size() < length && !optimizer->finished()) points.emplace_back();
  return points;
}

bool is_seeded(const Optimizer& optimizer) {
  const auto& known = optimizer_catalogue();
  const auto info = std::ranges::find(known, optimizer.name(), &OptimizerInfo::name);
  return info == known.end() || info->seeded;
}

std::string ids_follow(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto optimizer = make(space, seed);
  std::vector<Candidate> batch;
  EvaluationId next = 0;
  while (next < length) {
    batch.clear();
    const std::size_t got = optimizer->ask(7, batch);
    if (got != batch.size() || got > 7)
      return fmt::format("asked for 7, {} came, {} were announced", batch.size(), got);
    if (got == 0 && optimizer->finished()) return "";
    if (got == 0) return fmt::format("nothing is open, and none came after {}", next);
    for (const auto& c : batch) {
      if (c.id != next++) return fmt::format("id {} came instead of {}", c.id, next - 1);
    }
    if (optimizer->open() != got || optimizer->asked() != next) return "asked() or open() is wrong";
    for (const auto& c : batch) optimizer->tell(c.id, outcome_of(space, c.x));
  }
  return "";
}

using Judge = std::function<Outcome(const Candidate&)>;

/// In bounds whatever the outcomes are.
std::string stays_within(const OptimizerFactory& make, const Space& space, std::uint64_t seed, const Judge& judge) {
  const auto optimizer = make(space, seed);
  std::vector<Candidate> batch;
  while (optimizer->asked() < length) {
    batch.clear();
    if (optimizer->ask(16, batch) == 0) {
      if (optimizer->finished()) return "";
      return fmt::format("nothing is open, and none came after {}", optimizer->asked());
    }
    for (const auto& c : batch) {
      if (auto why = misplaced(space, c.x); !why.empty()) return fmt::format("candidate {}: {}", c.id, why);
      optimizer->tell(c.id, judge(c));
    }
  }
  return "";
}

std::string bounds_kept(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  return stays_within(make, space, seed, [&](const Candidate& c) { return outcome_of(space, c.x); });
}

Outcome strange(double value) {
  auto outcome = Outcome::of_value(value);
  outcome.residuals = {std::sqrt(std::abs(value)), 0};
  return outcome;
}

std::string survives_strange_values(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const std::vector<Judge> judges{
      [](const Candidate&) { return strange(1); },
      [](const Candidate& c) { return strange(c.id % 2 == 0 ? 1e308 : -1e308); },
      [](const Candidate& c) { return strange(5e-324 * static_cast<double>(c.id % 3)); },
      [](const Candidate& c) { return strange(-std::pow(1.01, static_cast<double>(c.id))); },
  };
  for (const auto& judge : judges) {
    if (auto why = stays_within(make, space, seed, judge); !why.empty()) return why;
  }
  return "";
}

std::string survives_failures(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto failed = Outcome::failure(Status::crashed, "signal 11");
  for (const std::uint64_t good_every : {1000000, 7, 2}) {
    auto why = stays_within(make, space, seed, [&](const Candidate& c) {
      return (c.id + 1) % good_every == 0 ? outcome_of(space, c.x) : failed;
    });
    if (!why.empty()) return why;
  }
  return "";
}

std::string survives_cancellation(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  for (const std::uint64_t told_every : {1000000, 5, 2}) {
    const auto optimizer = make(space, seed);
    std::vector<Candidate> batch;
    while (optimizer->asked() < length) {
      batch.clear();
      if (optimizer->ask(16, batch) == 0) {
        if (optimizer->finished()) break;
        return fmt::format("nothing is open, and none came after {}", optimizer->asked());
      }
      for (const auto& c : batch) {
        if (auto why = misplaced(space, c.x); !why.empty()) return fmt::format("candidate {}: {}", c.id, why);
        if ((c.id + 1) % told_every == 0) optimizer->tell(c.id, outcome_of(space, c.x));
        else optimizer->cancel(c.id);
      }
    }
  }
  return "";
}

std::string seed_decides(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto points = [&](std::uint64_t s) { return all_points(make, space, s, Manner::in_turn, 0); };
  const auto first = points(seed);
  if (auto why = difference(first, points(seed)); !why.empty()) return "same seed: " + why;
  const bool seeded = is_seeded(*make(space, seed));
  constexpr std::uint64_t others =
      40;  // a race of two choices has two orders, so eight others are the same in one of 256
  for (std::uint64_t other = seed + 1; other <= seed + others; ++other) {
    if (first != points(other)) return seeded ? "" : "another seed gave other candidates";
  }
  return !seeded ? "" : "40 other seeds gave the same candidates";
}

std::string chopping_is_free(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  if (!make(space, seed)->generational()) return "";
  const auto expected = all_points(make, space, seed, Manner::in_turn, 0);
  return difference(expected, all_points(make, space, seed, Manner::chopped, seed));
}

std::string tell_order_is_free(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  if (!make(space, seed)->generational()) return "";
  const auto expected = all_points(make, space, seed, Manner::in_turn, 0);
  for (const std::uint64_t shuffle : {1, 2, 3}) {
    if (auto why = difference(expected, all_points(make, space, seed, Manner::shuffled, shuffle)); !why.empty())
      return why;
  }
  return "";
}

std::string time_of_adoption_is_free(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  if (!make(space, seed)->generational()) return "";
  const auto expected = all_points(make, space, seed, Manner::in_turn, 0);
  for (const std::uint64_t variation : {1, 2}) {
    const auto optimizer = make(space, seed);
    auto points = points_with_late_jobs(*optimizer, space, length, variation);
    if (points.size() < length && !optimizer->finished()) points.emplace_back();
    if (auto why = difference(expected, points); !why.empty()) return why;
  }
  return "";
}

std::string replay_is_exact(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto calls = record(*make(space, seed), space, length, seed);
  if (calls.empty()) return "nothing is open, and none came";
  const auto resumed = make(space, seed);
  for (std::size_t k = 0; k < calls.size(); ++k) {
    if (!repeat(*resumed, calls[k])) return fmt::format("call {} of {} brings other candidates", k, calls.size());
  }
  return "";
}

bool refused(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError&) {
    return true;
  }
  return false;
}

std::string misuse_is_refused(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto optimizer = make(space, seed);
  const auto outcome = Outcome::of_value(1);
  std::vector<EvaluationId> closed;
  std::vector<Candidate> batch;
  while (optimizer->ask(3, batch) > 0 && optimizer->asked() < 3) {
    for (const auto& c : batch) optimizer->tell(c.id, outcome), closed.push_back(c.id);
    batch.clear();
  }
  if (optimizer->finished()) return "";
  if (batch.empty()) return "nothing is open, and none came";
  for (std::size_t k = 0; k + 1 < batch.size(); ++k) {
    k % 2 == 1 ? optimizer->tell(batch[k].id, outcome) : optimizer->cancel(batch[k].id);
    closed.push_back(batch[k].id);
  }
  for (const EvaluationId id : {optimizer->asked(), EvaluationId{1000000}}) closed.push_back(id);
  for (const EvaluationId id : closed) {
    if (!refused([&] { optimizer->tell(id, outcome); })) return fmt::format("tell({}) was not refused", id);
    if (!refused([&] { optimizer->cancel(id); })) return fmt::format("cancel({}) was not refused", id);
  }
  return optimizer->open() == 1 ? "" : "a refused call changed what is open";
}

/// One evaluation stays open for as long as the optimizer continues without it. If memory does not grow, the work of a
/// tell is bounded as well. For asynchronous optimizers, asynchronous_promises() checks more.
std::string memory_is_bounded(const OptimizerFactory& make, const Space& space, std::uint64_t seed) {
  const auto optimizer = make(space, seed);
  if (!optimizer->generational()) return "";
  std::vector<Candidate> batch;
  std::deque<Candidate> late;
  MemoryWatch watch(*optimizer);
  for (bool over = false; !over;) {
    batch.clear();
    if (optimizer->ask(64, batch) == 0) {
      if (optimizer->finished()) return "";
      if (late.empty()) return "nothing is open, and none came";
      batch.push_back(late.front());
      late.pop_front();
    } else if (late.empty()) {
      late.push_back(batch.front());
      batch.erase(batch.begin());
    }
    for (const auto& c : batch) {
      optimizer->tell(c.id, outcome_of(space, c.x));
      over = watch.told() || over;
    }
  }
  return watch.leak();
}

/// Every kind of parameter, and conditions.
Space everything() {
  auto depth = integer("depth", 1, 9);
  depth.active_when = "method == 'tree'";
  auto rate = real("rate", 1e-4, 1, Scale::log);
  rate.active_when = "method != 'tree' and fast";
  return Space{real("x", -5, 5),
               real("y", 0, 10),
               integer("n", 1, 100000, Scale::log),
               ordinal("size", {16.0, 32.0, 64.0, 128.0}),
               categorical("method", {std::string("tree"), std::string("net"), std::string("line")}),
               boolean("fast"),
               depth,
               rate};
}
}  // namespace

const std::vector<OptimizerPromise>& optimizer_promises() {
  static const std::vector<OptimizerPromise> all{
      {"ids follow each other", ids_follow},
      {"candidates keep the bounds", bounds_kept},
      {"strange values are survived", survives_strange_values},
      {"failures are survived", survives_failures},
      {"cancellations are survived", survives_cancellation},
      {"the seed decides", seed_decides},
      {"the way of asking does not matter", chopping_is_free},
      {"the order of tells does not matter", tell_order_is_free},
      {"when a job is adopted does not matter", time_of_adoption_is_free},
      {"replay is exact", replay_is_exact},
      {"misuse is refused", misuse_is_refused},
      {"memory is bounded", memory_is_bounded},
  };
  return all;
}

std::vector<std::string> broken_promises(const std::vector<OptimizerPromise>& promises, const OptimizerFactory& factory,
                                         const Space& space, std::uint64_t seed) {
  std::vector<std::string> broken;
  for (const auto& promise : promises) {
    if (!promise.holds(factory, space, seed).empty()) broken.push_back(promise.name);
  }
  return broken;
}

const std::vector<std::pair<std::string, Space>>& conformance_spaces() {
  static const std::vector<std::pair<std::string, Space>> all{
      {"one_real", Space{real("x", -1, 3)}},
      {"one_boolean", Space{integer("n", 0, 1)}},
      {"mixed", Space{real("x", -5, 5), real("rate", 1e-6, 1e2, Scale::log), integer("n", 1, 10), integer("on", 0, 1),
                      real("y", 0, 1e-3)}},
      {"integers", Space{integer("a", -3, 3), integer("b", 0, 1), integer("c", 0, 1000000),
                         integer("d", -4503599627370496.0, 4503599627370496.0)}},
      {"extremes", Space{real("tiny", 1e-300, 2e-300), real("huge", -8e307, 8e307),
                         real("log", 1e-300, 1e300, Scale::log), real("far", 1e15, 1e15 + 2)}},
      {"twenty_reals",
       [] {
         std::vector<Parameter> parameters;
         for (int i = 0; i < 20; ++i) parameters.push_back(real(fmt::format("x{}", i), -1, 1));
         return Space(std::move(parameters));
       }()},
      {"everything", everything()},
  };
  return all;
}

}  // namespace culmen::conformance
