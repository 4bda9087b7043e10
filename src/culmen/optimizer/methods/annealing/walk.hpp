// One chain of annealing.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/individual.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::annealing {

/// The next place that a walk evaluates.
struct Look {
  Individual at;                         ///< without steps
  std::optional<std::size_t> parameter;  ///< the only one that was changed; none: all reals were, along a difference
  std::uint64_t departure = 0;           ///< number of the walk's moves when this was drawn
};

/// A place, and the steps from it. A step changes one parameter, or all reals along the difference of two recent places
/// (ter Braak and Vrugt, Stat. Comput. 18 (2008) 435); chance decides which. Each parameter has its own step length,
/// and the differences have one too. After each look it adapts so that 0.44 of the looks are accepted (Corana,
/// Marchesi, Martini and Ridella, ACM Trans. Math. Softw. 13 (1987) 262; Andrieu and Thoms, Stat. Comput. 18 (2008)
/// 343). 0.44 is the best share for one parameter (Gelman, Roberts and Gilks 1996).
///
/// Steps of reals are normal. Integers and ordinals move by geometric numbers of cells; one step in ten is longer, as
/// in very fast annealing (Ingber, Math. Comput. Modelling 12 (1989) 967). Categorical and boolean parameters change to
/// any other choice. Values outside the range are mirrored back.
class Walk {
 public:
  static constexpr double wanted_share = 0.44;

  explicit Walk(Individual at) : at_(std::move(at)) {}
  const Standing& standing() const { return standing_; }
  const Individual& at() const { return at_; }

  Look look(const Space& space, Random& random) const;
  /// Receives the outcome of a look. If several looks start from one place, the first accepted one decides. A later one
  /// is accepted only if it is better than the walk's place at that time.
  void saw(Look&& look, const Standing& standing, double temperature, const Space& space, Random& random);
  /// with_steps: the steps start again from those of `at`.
  void place(const Individual& at, const Standing& standing, bool with_steps);
  /// Exchanges the places. Both walks keep their steps.
  void exchange(Walk& other);

 private:
  bool look_along(const Space& space, Look& look, Random& random) const;
  void adapt(const Look& look, const Space& space, bool accepted);
  void remember(const Space& space);

  Individual at_;
  double along_ = 1;                         // the step length along differences
  std::vector<std::vector<double>> places_;  // genes of the last places
  std::size_t oldest_ = 0;
  Standing standing_;
  std::uint64_t moves_ = 0;
};

}  // namespace culmen::annealing
