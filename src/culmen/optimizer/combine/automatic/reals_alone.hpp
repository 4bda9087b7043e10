// Descents in some of a space's parameters, beside a local search of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::automatic {

/// Quasi-Newton descents ("bfgs") in the real parameters that are active, where all others stay as they are: first at
/// the best vector that it has heard of. Where these find nothing more, others begin: at a better vector that it has
/// heard of since; else with one of the other parameters changed, an integer or an ordinal by a step (integers of a log
/// scale to the half and the double too); after each of these with two changed, about as often; then anywhere. (A local
/// search of mixed variables, as in Lucidi, Piccialli and Sciandrone, SIAM Journal on Optimization 15 (2005) 1057.)
class RealsAlone final : public Optimizer {
 public:
  /// Begins at `best`. Some parameter is real and always active. lanes: how many descents at a time; without
  /// generations as many as are asked for.
  RealsAlone(const Space& space, std::uint64_t seed, const std::vector<double>& best, std::size_t lanes,
             bool generational);
  bool generational() const override { return generational_; }
  std::string name() const override { return "descents"; }
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  /// Descents from one vector. A turn: what they ask for before they have to be told more.
  struct Lane {
    std::vector<double> from;
    std::vector<std::size_t> reals;  // that are active
    std::unique_ptr<Optimizer> descents;
    std::vector<Candidate> turn;
    std::size_t served = 0, open = 0;
    std::uint64_t improved = 0;  // asked when it last found something better
    Outcome found = Outcome::failure(Status::failed, {});
  };
  struct Given {
    std::size_t lane;
    EvaluationId inner;
    std::vector<double> x;
  };
  using Change = std::pair<std::size_t, double>;  // of a parameter, to what

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId id) override;
  bool begin_turns();
  void begin_turn(Lane& lane);
  bool is_over(const Lane& lane) const;
  void begin(Lane& lane, const std::vector<double>& x);
  void serve(std::size_t lane, std::vector<Candidate>& out);
  void learn(const std::vector<double>& x, const Outcome& outcome, EvaluationId from, bool is_new);
  std::vector<double> next();
  void list_changes();
  void change_two(std::vector<double>& x);
  std::vector<Change> changes() const;

  const Space space_;
  const std::uint64_t seed_;
  const bool generational_;
  Random random_;
  std::vector<Lane> lanes_;
  std::size_t serving_ = 0;  // no lane before this one has candidates
  std::uint64_t begun_ = 0;
  Outcome best_ = Outcome::failure(Status::failed, {});
  std::vector<double> best_x_;
  EvaluationId best_from_ = 0;   // its candidate and one; 0: heard of
  bool best_is_new_ = false;     // no lane has been there
  std::vector<double> about_;    // the best whose changes are listed
  std::vector<Change> untried_;  // of one
  std::size_t pairs_left_ = 0;   // of two
  EvaluationId next_ = 0;
  std::unordered_map<EvaluationId, Given> open_;
};

}  // namespace culmen::automatic
