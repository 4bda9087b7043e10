// The members that no other member dominates.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/combine/mocma/member.hpp"

namespace culmen::mocma {

/// For two objectives. It holds a limited number of members, and none of them is worse than another. Feasible members
/// do not dominate each other. As long as none is feasible, the members have the least violation. If there are too
/// many, the member with the least room leaves; the best of each objective stay.
///
/// The room between two neighbours is the area of the box between them. The room of a member is the hypervolume that
/// only this member adds (the ends have none). Each objective counts as a share of the front's extent. With one
/// objective, or if no member is feasible, members are equal and there is no room. A change costs O(members).
class Front {
 public:
  explicit Front(std::size_t most) : most_(most) {}
  /// Whether it is a member now; it then has its own id.
  bool add(Member member);
  /// Whether it would be a member if there were no limit.
  bool admits(const Outcome& outcome) const;

  bool empty() const { return members_.empty(); }
  std::size_t size() const { return members_.size(); }
  const std::vector<Member>& members() const { return members_; }
  Member* find(std::uint64_t id);
  /// The best member for objective k. With one objective, or if no member is feasible, k is ignored. Not for an empty
  /// front.
  const Member& best_of(std::size_t k) const;
  /// A random member; much room makes it more likely.
  const Member& roomy(Random& random) const;
  /// Two random neighbours; much room between them makes them more likely. There must be two members.
  std::pair<const Member*, const Member*> neighbours(Random& random) const;

 private:
  double share(std::size_t member, std::size_t objective) const;
  void measure();
  void measure_pairs();
  void drop_least();

  const std::size_t most_;
  std::uint64_t next_ = 1;
  std::vector<Member> members_;         // sorted by the first objective
  std::vector<double> lower_, extent_;  // of each objective
  std::vector<double> room_, gap_;      // of each member; between each and the next
};

}  // namespace culmen::mocma
