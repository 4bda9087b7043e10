// Descents in some of a space's parameters, in parallel with a local search of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/parts/lanes.hpp"

namespace culmen::automatic {

/// A candidate of one of the descents.
struct DescentPoint {
  std::size_t lane;
  EvaluationId inner;
  std::vector<double> x;
};

/// Quasi-Newton descents ("bfgs") in the active real parameters; all others keep their values. The first descent starts
/// at the best vector that is known. When a descent ends, another one starts. It starts at a better vector if one was
/// heard of since. Otherwise it changes one of the other parameters: an integer or an ordinal by one step, an integer
/// on a log scale also to its half and its double. After all of these it changes two parameters, about as often. After
/// that it starts anywhere. (A local search of mixed variables, as in Lucidi, Piccialli and Sciandrone, SIAM Journal on
/// Optimization 15 (2005) 1057.)
class RealsAlone final : public Remembering<DescentPoint> {
 public:
  /// Starts at `best`. At least one parameter must be real and always active. lanes: the number of parallel descents.
  /// Without generations a new one starts whenever a candidate is needed.
  RealsAlone(const Space& space, std::uint64_t seed, const std::vector<double>& best, std::size_t lanes, Mode mode,
             Edition edition = newest_edition);
  Mode mode() const override { return mode_; }
  std::string name() const override { return "descents"; }
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  /// Descents from one vector.
  struct Lane {
    std::vector<double> from;
    std::vector<std::size_t> reals;  // the active ones
    std::unique_ptr<Optimizer> descents;
    std::vector<Candidate> candidates;  // of this turn
    Turn turn;
    std::uint64_t improved = 0;  // the number of evaluations asked when it last found something better
    Outcome found = Outcome::failure(Status::failed, {});
  };
  using Change = std::pair<std::size_t, double>;  // a parameter and its new value

  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, DescentPoint&& point, const Outcome& outcome) override;
  void do_cancel(EvaluationId id, DescentPoint&& point) override;
  bool begin_turns();
  std::size_t waiting_lane();
  void begin_turn(std::size_t lane);
  bool is_over(const Lane& lane) const;
  void begin(Lane& lane, const std::vector<double>& x);
  void give(const Lanes<Lane>::Place& place, Asked& out);
  void learn(const std::vector<double>& x, const Outcome& outcome, EvaluationId from, bool is_new);
  std::vector<double> next();
  void list_changes();
  void change_two(std::vector<double>& x);
  std::vector<Change> changes() const;

  const Space space_;
  const std::uint64_t seed_;
  const Mode mode_;
  const Edition edition_;
  Random random_;
  Lanes<Lane> lanes_;
  std::uint64_t begun_ = 0;
  Outcome best_ = Outcome::failure(Status::failed, {});
  std::vector<double> best_x_;
  EvaluationId best_from_ = 0;   // its candidate's id plus one; 0: it was heard of
  bool best_is_new_ = false;     // no lane has started there
  std::vector<double> about_;    // the best whose changes are listed
  std::vector<Change> untried_;  // of one parameter
  std::size_t pairs_left_ = 0;   // changes of two parameters
};

}  // namespace culmen::automatic
