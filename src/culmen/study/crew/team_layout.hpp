// Which ranks of a launch evaluate together.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/study/crew/rank_layout.hpp"

namespace culmen {

/// Where the ranks of one team may be.
enum class TeamPlacement : unsigned char { node, any };

/// The teams that a user asks for.
struct TeamsWanted {
  std::size_t size = 0;  ///< ranks of each; 0: no teams, every rank evaluates alone
  TeamPlacement placement = TeamPlacement::node;
  double time_limit_s = 0;  ///< of an evaluation; 0: none
  explicit operator bool() const { return size > 0; }
};

/// The workers of a layout in teams, in the order of their ranks.
class TeamLayout {
 public:
  /// Throws InputError if the workers cannot be divided into teams. The message names possible numbers of ranks.
  TeamLayout(const RankLayout& ranks, const TeamsWanted& wanted);
  /// The members of every team in the order of their ranks, as the master numbers its workers.
  const std::vector<std::vector<WorkerId>>& teams() const { return teams_; }
  /// The team of each rank; -1 for rank 0 and relays.
  const std::vector<int>& team_of_rank() const { return team_of_rank_; }
  bool is_first(WorkerId worker) const {
    return std::ranges::any_of(teams_, [&](const auto& team) { return team.front() == worker; });
  }
  int rank_of(WorkerId worker) const { return rank_of_worker_[worker]; }

 private:
  void add(const std::vector<WorkerId>& workers, std::size_t size);
  std::vector<std::vector<WorkerId>> teams_;
  std::vector<int> team_of_rank_, rank_of_worker_;
};

}  // namespace culmen
