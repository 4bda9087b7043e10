// Constraints as a term of the value; the term learns how much each constraint costs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::cmaes {

/// The augmented Lagrangian of Atamna, Auger and Hansen, "Linearly convergent evolution strategies via augmented
/// Lagrangian constraint handling" (FOGA 2017). A member's value is f + Σ γ g + μ g² / 2 (- γ² / 2μ if g < -γ / μ). The
/// multiplier γ and the penalty μ of each constraint learn in each generation from f and g at the mean. The weighted
/// means of the members' f and g stand for these, so no further evaluation is needed. When a member first violates a
/// constraint, its γ and μ are set from the members' interquartile ranges of f and g (as in pycma). Each constraint is
/// tightened by a share of its spread in the population, so that some members are feasible even if several constraints
/// meet. The tightening vanishes with the spread.
///
/// Multiplying the values, or a constraint's figure, by a positive number changes rounding only.
class Lagrangian {
 public:
  Lagrangian(std::size_t constraints, std::size_t parameters, std::size_t population);

  /// A generation begins; asynchronously: the next group of results.
  void begin_generation() { members_.assign(members_.size(), {}); }
  /// The result of member k. A member without slacks takes no part; see Constraints.
  void tell(std::size_t k, double value, std::vector<double> slacks) { members_[k] = {value, std::move(slacks)}; }
  /// Replaces the standings of evaluated members, feasible or not: their value is then the Lagrangian.
  void judge(std::vector<std::optional<Standing>>& standings);
  /// Call this after the generation's step with these weights.
  void learn(std::span<const double> weights);

 private:
  struct Member {
    double value = 0;
    std::vector<double> slacks;
  };
  struct Term {
    double multiplier = 0, penalty = 0;  // γ, μ; both 0 until a member violates it
    double spread = -1, shift = 0;       // of the members' figures; the amount that is added to them
    double last = 0;                     // at the last mean
    std::uint64_t beginnings = 0;
    bool begun = false;

    double operator()(double g) const;
    bool quiet(double g) const { return multiplier + penalty * g < 0; }
  };

  void measure(std::size_t constraint);
  void begin(Term& term, const std::vector<double>& figures, double range) const;
  void learn(Term& term, double g, double change) const;
  double merit(const Member& member) const;

  double parameters_, factor_;
  std::vector<Member> members_;
  std::vector<Term> terms_;
  double last_value_ = 0;  // at the last mean
  bool has_last_ = false;
};

}  // namespace culmen::cmaes
