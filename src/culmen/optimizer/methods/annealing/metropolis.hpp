// Whether a walk accepts a move, and at which temperature.
#pragma once
#include <cstdint>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::annealing {

/// The rule of Metropolis et al. (J. Chem. Phys. 21 (1953) 1087): whether a walk moves from `now` to `next`; `u` is
/// uniform in [0, 1). A move from success to failure or to more violation is never accepted. A move between failures
/// always is.
bool accepts(const Standing& next, const Standing& now, double temperature, double u);

/// Whether two walks exchange places: the rule of replica exchange (Geyer 1991). The colder walk gets the better place.
bool exchanges(const Standing& cold, const Standing& hot, double cold_temperature, double hot_temperature, double u);

/// The spread of the first values, from the least to their median: one huge value then has no effect. Adding a constant
/// to all values does not change it; a factor multiplies it.
class Spread {
 public:
  /// If all values are equal, new values replace old ones.
  void add(double value);
  double value() const { return spread_; }

 private:
  static constexpr std::size_t most = 12;
  std::vector<double> values_;
  double spread_ = 0;
};

/// The temperature as a share of the first one. It falls geometrically (Kirkpatrick, Gelatt and Vecchi, Science 220
/// (1983) 671), in cycles. Each cycle is twice as long as the one before and starts at a tenth of its temperature, down
/// to a ten-thousandth; then a hot one follows. If the number of evaluations is known, the first cycle takes a third of
/// them, so that the second one ends with the last evaluation.
class Cooling {
 public:
  static constexpr double last_share = 1e-12;  ///< at the end of each cycle

  /// evaluations: 0 if unknown; the first cycle then has 100 (n + 1).
  Cooling(std::size_t parameters, std::uint64_t evaluations);
  /// Call this after each evaluation. Returns true if a cycle has ended.
  bool step();
  double share() const;

 private:
  std::uint64_t length_, passed_ = 0;
  unsigned cycle_ = 0;
};

}  // namespace culmen::annealing
