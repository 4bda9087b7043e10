// What kind of function is it? A few evaluations that tell.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::automatic {

/// Looks a second time at a point that was evaluated, at a random other one, and at mixtures of these two: one takes a
/// half of its parameters from the one and the others from the other, and one the reverse. It then ends, unless the
/// function may be a sum: then it looks at as many more halves as there need to be for any two parameters to be in
/// different ones once. Parameters that are always active and real.
///
/// Noise: the values of the same point differ. Separable: over each half of the parameters and the others the function
/// is a sum, f(a, b) + f(a', b') = f(a, b') + f(a', b) but for rounding (the test of differential grouping: Omidvar,
/// Li, Mei and Yao, IEEE Trans. Evolutionary Computation 18 (2014) 378).
class Probe final : public Optimizer {
 public:
  Probe(const Space& space, std::uint64_t seed, bool generational);

  /// The first that succeeded is the one that it looks at again.
  void hear(const std::vector<double>& x, const Outcome& outcome) override;
  /// It has something to ask.
  bool wants() const { return served_ < points_.size(); }
  bool done() const { return !points_.empty() && settled_ == points_.size(); }
  /// 0: none was seen; else the difference of both values of a point over the greater of their magnitudes. Not before
  /// done().
  double noise() const;
  /// Not before done(). False where an evaluation failed or was cancelled, and where values are so different that an
  /// interaction could hide in the rounding of the greatest.
  bool separable() const;

  bool generational() const override { return generational_; }
  bool finished() const override { return done(); }
  std::string name() const override { return "probe"; }

 private:
  using Point = std::vector<double>;

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override { settle(id, outcome); }
  void do_cancel(EvaluationId id) override { settle(id, Outcome::failure(Status::failed, {})); }
  void settle(EvaluationId id, const Outcome& outcome);
  void add_mixtures(std::size_t half);
  bool sums(std::size_t half) const;

  const Space space_;
  const bool generational_;
  Random random_;
  std::vector<std::size_t> places_;  // of parameters; halves go by a bit of it
  std::size_t halves_ = 0;
  double first_;                // value of the point
  std::vector<Point> points_;   // the point, another, then two mixtures for each half
  std::vector<double> values_;  // NaN: none
  std::size_t served_ = 0, settled_ = 0;
};

}  // namespace culmen::automatic
