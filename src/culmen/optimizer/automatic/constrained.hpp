// How "auto" shares evaluations out where there are constraints.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "culmen/optimizer/automatic/portfolio.hpp"

namespace culmen::automatic {

/// Of real parameters: descents by gradients of the value and of the constraints lead for 100 n evaluations, and up to
/// three times as long while they come on. Then CMA-ES gets most, and they keep a share, which is larger while they
/// hold the best, and begin from the best of CMA-ES whenever that has found a better place.
class ConstrainedDescentsFirst final : public Effort {
 public:
  enum Place : std::size_t { descents, global, members };
  explicit ConstrainedDescentsFirst(std::size_t n) : n_(n) {}

  std::size_t next(std::vector<Member>& members) override;
  void learn(std::vector<Member>& members, std::size_t member, const std::vector<double>& x,
             const Outcome& outcome) override;
  std::string remark(const std::vector<Member>& members) const override;

 private:
  bool leads(const Member& leader) const;

  const std::uint64_t n_;
  Outcome best_of_descents_ = Outcome::failure(Status::failed, {});
  std::uint64_t improved_ = 0;  // asked of the descents then
  double owed_ = 0;             // evaluations of the descents' share
  std::uint64_t counted_descents_ = 0, counted_global_ = 0;
  Outcome handed_ = Outcome::failure(Status::failed, {});
  std::uint64_t asked_at_handing_ = 0;
};

/// For real parameters that are always active.
std::unique_ptr<Optimizer> constrained(const Space& space, std::uint64_t seed, std::size_t parallel,
                                       const Terms& terms);

}  // namespace culmen::automatic
