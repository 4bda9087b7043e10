// One chain of annealing.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/parts/individual.hpp"
#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::annealing {

/// Where a walk looks next.
struct Look {
  Individual at;                         ///< without steps
  std::optional<std::size_t> parameter;  ///< which alone was changed; none: the reals, along a difference
  std::uint64_t departure = 0;           ///< the walk's moves when it was drawn
};

/// A place, and steps that it takes from there: of one parameter at a time, or of all reals along the difference of two
/// places where it was lately (ter Braak and Vrugt, Stat. Comput. 18 (2008) 435), in turn by chance. Each parameter,
/// and the differences, have a step length of their own that adapts until 0.44 of the looks are accepted. (Corana,
/// Marchesi, Martini and Ridella, ACM Trans. Math. Softw. 13 (1987) 262; after each look, as in Andrieu and Thoms,
/// Stat. Comput. 18 (2008) 343; 0.44 is the best share for one parameter: Gelman, Roberts and Gilks 1996.) Reals step
/// normally, integers and ordinals by geometric numbers of cells, one in ten far, as in very fast annealing (Ingber,
/// Math. Comput. Modelling 12 (1989) 967); categorical and boolean ones to any other of their choices. What leaves its
/// range is mirrored back.
class Walk {
 public:
  static constexpr double wanted_share = 0.44;

  explicit Walk(Individual at) : at_(std::move(at)) {}
  const Standing& standing() const { return standing_; }
  const Individual& at() const { return at_; }

  Look look(const Space& space, Random& random) const;
  /// What it saw. Of several looks from one place the first that is accepted counts; what comes later is accepted where
  /// it is better than where the walk is then.
  void saw(Look&& look, const Standing& standing, double temperature, const Space& space, Random& random);
  /// Steps, where given, begin anew.
  void place(const Individual& at, const Standing& standing, bool with_steps);
  /// Both keep their steps.
  void exchange(Walk& other);

 private:
  bool look_along(const Space& space, Look& look, Random& random) const;
  void adapt(const Look& look, const Space& space, bool accepted);
  void remember(const Space& space);

  Individual at_;
  double along_ = 1;                         // the step along differences
  std::vector<std::vector<double>> places_;  // the last ones, genes
  std::size_t oldest_ = 0;
  Standing standing_;
  std::uint64_t moves_ = 0;
};

}  // namespace culmen::annealing
