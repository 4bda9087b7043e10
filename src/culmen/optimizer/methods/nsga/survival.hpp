// Which members of a population stay.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "culmen/evaluation/outcome.hpp"

namespace culmen::nsga {

/// Of feasible members of several objectives lower fronts stay; they differ in whom they take of the front that has to
/// be cut. With one objective, and of what is not feasible, the better stay (ranked()).
class Survival {
 public:
  virtual ~Survival() = default;
  /// The indices of those that stay, at most `count`, best first. None of the outcomes failed.
  virtual std::vector<std::size_t> select(const std::vector<const Outcome*>& outcomes, std::size_t count) = 0;
  /// Whether the order among those that stay says who shall have children; else all are as good.
  virtual bool ranks() const = 0;
};

/// Takes whole fronts, and has a rule choose from the one that is too large.
class ByFronts : public Survival {
 public:
  std::vector<std::size_t> select(const std::vector<const Outcome*>& outcomes, std::size_t count) final;
  bool ranks() const final { return false; }

 private:
  /// `count` of `front`, which has more; `kept` are there already.
  virtual std::vector<std::size_t> choose(const std::vector<const Outcome*>& outcomes,
                                          const std::vector<std::size_t>& kept, const std::vector<std::size_t>& front,
                                          std::size_t count) = 0;
};

/// Those with more room (NSGA-II: Deb, Pratap, Agarwal and Meyarivan, IEEE Trans. Evol. Comput. 6 (2002) 182).
std::unique_ptr<Survival> by_crowding();

/// Those without which the most hypervolume would be lost, one leaving after the other (SMS-EMOA: Beume, Naujoks and
/// Emmerich, Eur. J. Oper. Res. 181 (2007) 1653), of values as shares of the front's extent; its extreme ones stay.
/// Exact for two and three objectives, sampled for more (HypE).
std::unique_ptr<Survival> by_hypervolume(std::uint64_t seed);

/// Those along reference directions that few others are at (NSGA-III: Deb and Jain, IEEE Trans. Evol. Comput. 18
/// (2014) 577). As many directions as the grid of Das and Dennis (SIAM J. Optim. 8 (1998) 631) has that is not larger
/// than the population; where that has no inner points, another within it.
std::unique_ptr<Survival> by_directions(std::uint64_t seed, std::size_t objectives, std::size_t population);

/// These directions: non-negative, each with sum 1.
std::vector<std::vector<double>> reference_directions(std::size_t objectives, std::size_t most);

}  // namespace culmen::nsga
