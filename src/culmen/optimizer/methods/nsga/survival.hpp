// Which members of a population survive.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::nsga {

/// Feasible members with several objectives survive by fronts, lower ones first. The rules differ in how they choose
/// from the front that must be cut. With one objective, and among infeasible members, the better ones survive
/// (ranked()).
class Survival {
 public:
  virtual ~Survival() = default;
  /// The indices of the survivors, at most `count`, best first. None of the outcomes may have failed.
  virtual std::vector<std::size_t> select(const std::vector<const Outcome*>& outcomes, std::size_t count) = 0;
  /// Whether survivors that come first should be preferred as parents; otherwise all are equal.
  virtual bool ranks() const = 0;
};

/// Takes whole fronts. A rule chooses from the front that is too large.
class ByFronts : public Survival {
 public:
  std::vector<std::size_t> select(const std::vector<const Outcome*>& outcomes, std::size_t count) final;
  bool ranks() const final { return false; }

 private:
  /// Chooses `count` members of `front`, which has more; `kept` have survived already.
  virtual std::vector<std::size_t> choose(const std::vector<const Outcome*>& outcomes,
                                          const std::vector<std::size_t>& kept, const std::vector<std::size_t>& front,
                                          std::size_t count) = 0;
};

/// Keeps less crowded members (NSGA-II: Deb, Pratap, Agarwal and Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182).
std::unique_ptr<Survival> by_crowding();

/// Removes the member with the smallest contribution to the hypervolume, one at a time (SMS-EMOA: Beume, Naujoks and
/// Emmerich, Eur. J. Oper. Res. 181 (2007) 1653). Values are shares of the front's extent; its extreme members stay.
/// Exact for two and three objectives, sampled for more (HypE).
std::unique_ptr<Survival> by_hypervolume(std::uint64_t seed);

/// Prefers members along reference directions with few other members (NSGA-III: Deb and Jain, IEEE Trans. Evol. Comput.
/// 18 (2014) 577). The directions are the largest grid of Das and Dennis (SIAM J. Optim. 8 (1998) 631) that is not
/// larger than the population. If that grid has no inner points, a second one inside it is added.
std::unique_ptr<Survival> by_directions(std::uint64_t seed, std::size_t objectives, std::size_t population);

/// These directions: non-negative, each with sum 1.
std::vector<std::vector<double>> reference_directions(std::size_t objectives, std::size_t most);

}  // namespace culmen::nsga
