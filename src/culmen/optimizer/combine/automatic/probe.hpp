// Evaluates a few points to find out what kind of function it is.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::automatic {

/// Evaluates a known point again, a random other point, and two mixtures of them. One mixture takes half of its
/// parameters from the first point and the rest from the other; the second mixture is the reverse. The probe then ends,
/// unless the function may be a sum. In that case it tries more halves, until any two parameters have been in different
/// halves once. All parameters must be real and always active.
///
/// Noise: two values of the same point differ. Separable: for each half of the parameters the function is a sum over
/// this half and the rest, so f(a, b) + f(a', b') = f(a, b') + f(a', b) except for rounding. This is the test of
/// differential grouping (Omidvar, Li, Mei and Yao, IEEE Trans. Evolutionary Computation 18 (2014) 378).
class Probe final : public Optimizer {
 public:
  Probe(const Space& space, std::uint64_t seed, Mode mode);

  /// The first point that succeeds is the one that it evaluates again.
  void hear(const std::vector<double>& x, const Outcome& outcome) override;
  /// Whether it has points to evaluate.
  bool wants() const { return served_ < points_.size(); }
  bool done() const { return !points_.empty() && settled_ == points_.size(); }
  /// The difference of the two values of a point, divided by the greater magnitude; 0: no noise was seen. Only after
  /// done().
  double noise() const;
  /// Only after done(). False if an evaluation failed or was cancelled. Also false if values differ so much that the
  /// rounding of the greatest could hide an interaction.
  bool separable() const;

  Mode mode() const override { return mode_; }
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
  const Mode mode_;
  Random random_;
  std::vector<std::size_t> places_;  // of parameters; the bits of a place define the halves
  std::size_t halves_ = 0;
  double first_;                // value of the point
  std::vector<Point> points_;   // the point, another, then two mixtures for each half
  std::vector<double> values_;  // NaN: no value
  std::size_t served_ = 0, settled_ = 0;
};

}  // namespace culmen::automatic
