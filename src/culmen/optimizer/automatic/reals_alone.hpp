// Descents in some of a space's parameters, beside a local search of the others.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/optimizer.hpp"

namespace culmen::automatic {

/// Quasi-Newton descents ("bfgs") in the real parameters that are active, where all others stay as they are: first as
/// at the best vector that it has heard of. When these find nothing more, one of the others changes, an integer or an
/// ordinal by a step, and descents go on from there; after each of these, two at a time (a local search of mixed
/// variables, as in Lucidi, Piccialli and Sciandrone, SIAM Journal on Optimization 15 (2005) 1057). Better vectors of
/// others are gone on from.
class RealsAlone final : public Optimizer {
 public:
  /// Begins at `best`. Some parameter is real and always active. terms: of the whole search; budget and goals do not
  /// matter.
  RealsAlone(const Space& space, std::uint64_t seed, const std::vector<double>& best, const Terms& terms);
  bool generational() const override { return terms_.generational; }
  std::string name() const override { return "bfgs"; }
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  struct Given {
    std::uint64_t time;  // of which descents
    EvaluationId inner;
    std::vector<double> x;
  };
  using Change = std::pair<std::size_t, double>;  // of a parameter, to what

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId id) override;
  void begin(const std::vector<double>& x);
  bool is_time_to_go_on() const;
  std::vector<double> next();
  std::vector<Change> changes() const;
  bool same_others(const std::vector<double>& x, const std::vector<double>& y) const;
  std::vector<double> reals_of(const std::vector<double>& x) const;

  const Space space_;
  const std::uint64_t seed_;
  const Terms terms_;
  Random random_;
  std::vector<std::size_t> reals_;  // that are active
  std::vector<double> others_;      // as they are now; reals do not matter
  std::unique_ptr<Optimizer> inner_;
  std::uint64_t time_ = 0, improved_ = 0;  // number of these descents; asked of them when they last found better
  Outcome found_, best_;                   // by these; of all
  std::vector<double> best_x_;
  bool best_is_new_ = false;                    // and of others
  std::optional<std::vector<Change>> untried_;  // about the best; none: not listed yet
  EvaluationId next_ = 0;
  std::unordered_map<EvaluationId, Given> open_;
};

}  // namespace culmen::automatic
