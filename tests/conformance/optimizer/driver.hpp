// Drives an optimizer through a study without an engine.
#pragma once
#include <cstdint>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::conformance {

using Points = std::vector<std::vector<double>>;

/// A smooth valley in the unit cube with a failing corner, with residuals; depends on x alone.
Outcome outcome_of(const Space& space, const std::vector<double>& x);

enum class Manner {
  in_turn,   ///< ask for 64, tell all in order
  chopped,   ///< ask for 1 to 9, tell in order what came; another number of workers each time
  shuffled,  ///< ask for 1 to 9 at any time, tell any open one; likewise
};

/// The first n candidates in id order (fewer when the optimizer stops proposing, or finishes); variation chooses among
/// the ways of the manner.
Points points_of(Optimizer& optimizer, const Space& space, std::size_t n, Manner manner, std::uint64_t variation);

/// The same with its jobs handed out, of which each is adopted any time later.
Points points_with_late_jobs(Optimizer& optimizer, const Space& space, std::size_t n, std::uint64_t variation);

struct Call {
  enum class Kind { ask, tell, cancel, resize } kind = Kind::ask;
  std::size_t n = 0;                  // of an ask; of a resize: workers
  std::vector<Candidate> candidates;  // that came
  EvaluationId id = 0;                // of a tell or cancel
  Outcome outcome;                    // of a tell
};

/// Asks, tells, fails, cancels and resizes at random until n were asked for or the optimizer has finished; returns the
/// calls, none when it stops proposing.
std::vector<Call> record(Optimizer& optimizer, const Space& space, std::size_t n, std::uint64_t variation);
/// False when an ask brings other candidates than it did.
bool repeat(Optimizer& optimizer, const Call& call);

}  // namespace culmen::conformance
