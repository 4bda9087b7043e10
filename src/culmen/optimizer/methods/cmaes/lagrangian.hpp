// Constraints as a term of the value that learns what each of them costs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::cmaes {

/// The augmented Lagrangian of Atamna, Auger and Hansen, "Linearly convergent evolution strategies via augmented
/// Lagrangian constraint handling" (FOGA 2017): a member counts for f + Σ γ g + μ g² / 2 (- γ² / 2μ where g < -γ / μ).
/// Multipliers γ and penalties μ of each constraint learn from generation to generation, from f and g at the mean,
/// which the weighted mean of the members' stands for, so that nothing more is evaluated. Each begins, when a member
/// violates its constraint first, at what the members' interquartile ranges of f and g say (as in pycma). To have
/// feasible members at all where several constraints meet, g is that of a constraint tightened by a share of its spread
/// in the population, which vanishes with it.
///
/// Multiplying the values, or a constraint's figure, by a positive number changes rounding only.
class Lagrangian {
 public:
  Lagrangian(std::size_t constraints, std::size_t parameters, std::size_t population);

  /// A generation begins, or as many results that come in any order.
  void begin_generation() { members_.assign(members_.size(), {}); }
  /// What member k's evaluation gave. It does not take part where there are no slacks; see Constraints.
  void tell(std::size_t k, double value, std::vector<double> slacks) { members_[k] = {value, std::move(slacks)}; }
  /// Replaces the standings of members, by number: what was evaluated has its Lagrangian for a value, whether feasible
  /// or not.
  void judge(std::vector<std::optional<Standing>>& standings);
  /// The generation's step was made with these weights.
  void learn(std::span<const double> weights);

 private:
  struct Member {
    double value = 0;
    std::vector<double> slacks;
  };
  struct Term {
    double multiplier = 0, penalty = 0;  // γ, μ; both 0 until a member violates it
    double spread = -1, shift = 0;       // of the members' figures; what is added to them
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
