// How large a population is.
#pragma once
#include <cstddef>
#include <cstdint>

namespace culmen::de {

/// Linear population size reduction (L-SHADE) in one run of a search that begins anew, with a population half as
/// large again, when it has converged: so small populations find what is easy early, and long searches are used.
class Plan {
 public:
  struct Sizes {
    std::size_t first;   ///< of the first run's population
    std::size_t fewest;  ///< to which populations shrink
  };
  /// 8 and two for each parameter, 4 and one for every second, so that differences still point everywhere when the
  /// population is smallest.
  static Sizes default_sizes(std::size_t parameters) { return {8 + 2 * parameters, 4 + parameters / 2}; }

  /// `run`: 0, 1, …; `least`: the population begins with at least as many; `left`: evaluations that the search still
  /// has, 0: no limit is known.
  Plan(const Sizes& sizes, unsigned run, std::size_t least, std::uint64_t left);
  std::size_t population() const { return population_; }
  /// When `used` evaluations of this run are: from population() down to the fewest, linearly in what is planned.
  std::size_t population_at(std::uint64_t used) const;

 private:
  std::size_t population_, fewest_;
  double planned_;  // evaluations
};

}  // namespace culmen::de
