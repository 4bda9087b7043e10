// A search that leads, and a global one after it.
#pragma once
#include <cstdint>

#include "culmen/optimizer/combine/automatic/durations.hpp"
#include "culmen/optimizer/combine/automatic/portfolio.hpp"

namespace culmen::automatic {

/// One member, which is soon at a minimum, leads for so many evaluations, and up to three times as long while it comes
/// on. From then on the global one gets most; the leader keeps a share, which is larger while it holds the best value
/// by itself, and begins from the best of the global one whenever that has found a better place.
class Lead {
 public:
  /// n parameters: 100 n evaluations.
  explicit Lead(std::size_t n) : n_(n), lead_(usual * n) {}

  /// Another member is the leader now.
  void change();
  /// To 30 n evaluations, from now on.
  void shorten() { lead_ = brief * n_; }
  /// Where there are more workers than a descent can use it does not begin: the less so, the longer some of a
  /// gradient's evaluations take than others. On a virtual clock, for 10 parameters, that is worth from .25 to .26 of
  /// the area over time with 16 workers and log-normal durations of σ = .5, .22 to .25 with σ = 1; with 6 workers it
  /// would cost .22 to .20 and .197 to .194.
  bool lasts(const Member& leader) const;
  /// Without generations: how many work at a time, and each result.
  void resize(std::size_t workers) { workers_ = workers; }
  void observe(const Outcome& outcome) { durations_.add(outcome.duration_s); }
  /// After the lead: is it the leader's turn, not that of the global one? To be asked once a turn.
  bool due(const Member& leader, const Member& global);
  /// The leader was told a result.
  void learn(const Member& leader);
  /// The global one was told a result: the leader hears of its best where that is news, not too often.
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
  bool beaten_ = false;  // the global search has found a better place: what the leader makes of that is not its own
};

/// How many descents of n parameters beside each other: a quarter of the candidates at a time, n + 1 for a gradient.
std::size_t descents_beside(std::size_t n, std::size_t parallel);

}  // namespace culmen::automatic
