// A search that leads, followed by a global one.
#pragma once
#include <cstdint>

#include "culmen/optimizer/combine/automatic/durations.hpp"
#include "culmen/optimizer/combine/automatic/portfolio.hpp"

namespace culmen::automatic {

/// One member, which finds a minimum quickly, leads for a number of evaluations. It leads up to three times as long
/// while it improves. Afterwards the global member gets most evaluations. The leader keeps a share, which is larger
/// while it holds the best value without help. It restarts from the global member's best point if that is better.
class Lead {
 public:
  /// The lead takes 100 n evaluations for n parameters.
  explicit Lead(std::size_t n) : n_(n), lead_(usual * n) {}

  /// Another member becomes the leader.
  void change();
  /// The lead takes only 30 n evaluations.
  void shorten() { lead_ = brief * n_; }
  /// There is no lead if more workers are available than a descent can use. The threshold falls as durations vary more,
  /// because a descent waits for the longest evaluation of each gradient. benchmarks/README.md has the figures.
  bool lasts(const Member& leader) const;
  /// Without generations: the number of workers, and each result.
  void resize(std::size_t workers) { workers_ = workers; }
  void observe(const Outcome& outcome) { durations_.add(outcome.duration_s); }
  /// After the lead: whether the next turn is the leader's and not the global member's. Call this once per turn.
  bool due(const Member& leader, const Member& global);
  /// The leader was told a result.
  void learn(const Member& leader);
  /// The global member was told a result. The leader hears its best point if that is new, but not too often.
  void hand_over(Member& leader, const Member& global);

 private:
  static constexpr std::uint64_t usual = 100, brief = 30;  // for each parameter

  const std::uint64_t n_;
  const std::uint64_t turn_ = n_ + 1;  // evaluations: about those of a gradient
  std::uint64_t lead_;
  std::size_t workers_ = 0;
  Durations durations_;
  Outcome best_ = Outcome::failure(Status::failed, {});  // of the leader
  std::uint64_t improved_ = 0;                           // asked of the leader then
  double owed_ = 0;                                      // evaluations of the leader's share
  std::uint64_t counted_leader_ = 0, counted_global_ = 0;
  Outcome handed_ = Outcome::failure(Status::failed, {});
  std::uint64_t asked_at_handing_ = 0;
  bool beaten_ = false;  // the global search found a better point, so the leader's best is not its own
};

/// The number of parallel descents: they use a quarter of the candidates at a time, n + 1 for each gradient.
std::size_t descents_beside(std::size_t n, std::size_t parallel);

}  // namespace culmen::automatic
