// How large a population is.
#pragma once
#include <cstddef>
#include <cstdint>

namespace culmen::de {

/// Linear population size reduction (L-SHADE) in one run. After convergence the search restarts with a population that
/// is half as large again. Small populations thus solve easy problems early, and long searches are still used well.
class Plan {
 public:
  struct Sizes {
    std::size_t first;   ///< of the first run's population
    std::size_t fewest;  ///< the size to which populations shrink
  };
  /// 8 + 2 for each parameter, and 4 + 1 for every second one: differences must still cover all directions when the
  /// population is smallest.
  static Sizes default_sizes(std::size_t parameters) { return {8 + 2 * parameters, 4 + parameters / 2}; }

  /// `run`: 0, 1, …; `least`: the smallest allowed first population; `left`: the remaining evaluations of the search,
  /// 0: no limit is known.
  Plan(const Sizes& sizes, unsigned run, std::size_t least, std::uint64_t left);
  std::size_t population() const { return population_; }
  /// The population after `used` evaluations of this run. It falls linearly from population() to the fewest.
  std::size_t population_at(std::uint64_t used) const;

 private:
  std::size_t population_, fewest_;
  double planned_;  // evaluations
};

}  // namespace culmen::de
