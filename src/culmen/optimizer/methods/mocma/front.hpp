// The members that none dominates.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/mocma/member.hpp"

namespace culmen::mocma {

/// Of two objectives. At most so many members, none of which is beaten by another: feasible ones do not dominate each
/// other, and as long as none is feasible these have the least violation. Where there would be more, the one leaves
/// that has the least room; the best of each objective stay.
///
/// The room between two neighbours is the area of the box between them, that of a member the hypervolume that it alone
/// adds (none at the ends); each objective counts as a share of the front's extent. With one objective, or none
/// feasible, members are equal and there is no room. O(members) after each change.
class Front {
 public:
  explicit Front(std::size_t most) : most_(most) {}
  /// Whether it is one of them now, with an id of its own.
  bool add(Member member);
  /// Whether it would be, if there were no limit.
  bool admits(const Outcome& outcome) const;

  bool empty() const { return members_.empty(); }
  std::size_t size() const { return members_.size(); }
  const std::vector<Member>& members() const { return members_; }
  Member* find(std::uint64_t id);
  /// The best of objective k; of one objective, or none feasible, k does not matter. Not of an empty front.
  const Member& best_of(std::size_t k) const;
  /// Likely one with much room.
  const Member& roomy(Random& random) const;
  /// Two neighbours, likely with much room between them. There are two at least.
  std::pair<const Member*, const Member*> neighbours(Random& random) const;

 private:
  double share(std::size_t member, std::size_t objective) const;
  void measure();
  void measure_pairs();
  void drop_least();

  const std::size_t most_;
  std::uint64_t next_ = 1;
  std::vector<Member> members_;         // by the first objective
  std::vector<double> lower_, extent_;  // of each objective
  std::vector<double> room_, gap_;      // of each member; of each and the next
};

}  // namespace culmen::mocma
