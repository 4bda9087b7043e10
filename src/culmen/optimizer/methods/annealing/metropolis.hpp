// Whether a walk goes to where it looked, and at which temperature.
#pragma once
#include <cstdint>
#include <vector>

#include "culmen/optimizer/parts/standing.hpp"

namespace culmen::annealing {

/// The rule of Metropolis et al. (J. Chem. Phys. 21 (1953) 1087): whether a walk leaves `now` for `next`; `u` is
/// uniform in [0, 1). Never for a worse fate or more violation, and always among failures.
bool accepts(const Standing& next, const Standing& now, double temperature, double u);

/// Whether two walks change places, the rule of replica exchange (Geyer 1991). It brings what is better to the colder.
bool exchanges(const Standing& cold, const Standing& hot, double cold_temperature, double hot_temperature, double u);

/// How far the first values lie apart: from the least to their median, so one that is huge does not count. A constant
/// added changes nothing, a factor is one on it.
class Spread {
 public:
  /// Values that are all the same say nothing: it then forgets old ones for new ones.
  void add(double value);
  double value() const { return spread_; }

 private:
  static constexpr std::size_t most = 12;
  std::vector<double> values_;
  double spread_ = 0;
};

/// The temperature's fall as a share of the first one: geometric (Kirkpatrick, Gelatt and Vecchi, Science 220 (1983)
/// 671), in cycles, each twice as long, that begin a tenth as hot as the one before, down to a ten-thousandth, and then
/// hot again. Where the number of evaluations is known, the first cycle takes a third of them, so that the second ends
/// with them.
class Cooling {
 public:
  static constexpr double last_share = 1e-12;  ///< at the end of each cycle

  /// evaluations 0: not known; the first cycle then has 100 (n + 1).
  Cooling(std::size_t parameters, std::uint64_t evaluations);
  /// After each evaluation. True: a cycle has ended.
  bool step();
  double share() const;

 private:
  std::uint64_t length_, passed_ = 0;
  unsigned cycle_ = 0;
};

}  // namespace culmen::annealing
