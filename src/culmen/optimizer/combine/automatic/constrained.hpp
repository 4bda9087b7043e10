// How "auto" divides evaluations if there are constraints.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "culmen/optimizer/combine/automatic/lead.hpp"
#include "culmen/optimizer/combine/automatic/portfolio.hpp"

namespace culmen::automatic {

/// Lead and global search. Descents by gradients of the value and of the constraints lead for 100 n evaluations. CMA-ES
/// follows.
class ConstrainedDescentsFirst final : public Effort {
 public:
  enum Place : std::size_t { descents, global, members };
  explicit ConstrainedDescentsFirst(std::size_t n) : lead_(n) {}

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;
  void resize(std::size_t workers) override { lead_.resize(workers); }

 private:
  Lead lead_;
};

/// For real parameters that are always active.
std::unique_ptr<Optimizer> constrained(const Space& space, std::uint64_t seed, std::size_t parallel,
                                       const Terms& terms);

}  // namespace culmen::automatic
