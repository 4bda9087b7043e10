// What kind of function is it? A few evaluations that tell.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "culmen/optimizer/optimizer.hpp"

namespace culmen::automatic {

/// Looks at the start a second time, and at three more points: a random one, and both mixtures of its halves with the
/// start's. It then ends. Parameters that are always active and real.
///
/// Noise: the start's values differ. Separable: over a random half of the parameters and the others the function is a
/// sum, f(a, b) + f(a', b') = f(a, b') + f(a', b) but for rounding (the test of differential grouping: Omidvar, Li, Mei
/// and Yao, IEEE Trans. Evolutionary Computation 18 (2014) 378).
class Probe final : public Optimizer {
 public:
  Probe(const Space& space, std::uint64_t seed, bool generational);

  /// The start's first value comes this way.
  void hear(const std::vector<double>& x, const Outcome& outcome) override;
  bool done() const { return settled_ == points; }
  /// 0: none was seen; else the difference of both values of the start over the greater of their magnitudes. Not
  /// before done().
  double noise() const;
  /// Not before done(). False where an evaluation failed or was cancelled.
  bool separable() const;

  bool generational() const override { return generational_; }
  bool finished() const override { return served_ == points; }
  std::string name() const override { return "probe"; }

 private:
  static constexpr std::size_t points = 4;

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId) override { ++settled_; }

  const bool generational_;
  const std::size_t parameters_;
  std::array<std::vector<double>, points> points_;  // the start, another, their mixtures
  std::array<double, points> values_;               // NaN: none
  double start_;
  std::size_t served_ = 0, settled_ = 0;
};

}  // namespace culmen::automatic
