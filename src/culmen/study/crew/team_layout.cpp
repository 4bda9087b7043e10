#include "culmen/study/crew/team_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {

/// "5", or "5 or 9": numbers of ranks beside `given` whose workers make whole teams, if `others` do not work.
std::string sizes_near(std::size_t workers, std::size_t size, std::size_t others) {
  const auto more = (workers / size + 1) * size + others;
  const auto less = workers / size * size;
  return less == 0 ? fmt::to_string(more) : fmt::format("{} or {}", less + others, more);
}

std::string ranks(std::size_t n) { return n == 1 ? "the 1 rank that works" : fmt::format("the {} ranks that work", n); }

void check_node(const RankLayout& layout, std::size_t node, std::size_t size) {
  const auto workers = layout.workers_of(node).size();
  if (workers % size == 0) return;
  const auto whose = node == 0 ? "the master's node" : fmt::format("node {}", node + 1);
  throw InputError(
      fmt::format("team_size = {} does not divide {} on {}, and a team stays on one node; start {} ranks there, or "
                  "write team_placement = \"any\"",
                  size, ranks(workers), whose, sizes_near(workers, size, 1)));
}

void check_all(const RankLayout& layout, std::size_t size) {
  const auto workers = layout.workers(), others = layout.nodes();
  if (workers % size == 0) return;
  const auto idle =
      others == 1 ? "rank 0 is the master" : fmt::format("{} other ranks are the master and relays", others);
  throw InputError(fmt::format("team_size = {} does not divide {} ({}); start {} ranks", size, ranks(workers), idle,
                               sizes_near(workers, size, others)));
}

}  // namespace

TeamLayout::TeamLayout(const RankLayout& ranks, const TeamsWanted& wanted)
    : team_of_rank_(ranks.workers() + ranks.nodes(), -1) {
  const bool stays = wanted.placement == TeamPlacement::node && ranks.nodes() > 1;
  if (!stays) check_all(ranks, wanted.size);
  std::vector<WorkerId> all;
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    if (stays) check_node(ranks, node, wanted.size);
    for (const auto rank : ranks.workers_of(node)) {
      all.push_back(static_cast<WorkerId>(rank_of_worker_.size()));
      rank_of_worker_.push_back(rank);
    }
  }
  add(all, wanted.size);
}

void TeamLayout::add(const std::vector<WorkerId>& workers, std::size_t size) {
  for (std::size_t at = 0; at < workers.size(); at += size) {
    const auto begin = workers.begin() + static_cast<std::ptrdiff_t>(at);
    std::vector<WorkerId> team(begin, begin + static_cast<std::ptrdiff_t>(size));
    std::ranges::sort(team, {}, [this](WorkerId worker) { return rank_of(worker); });  // as in their communicator
    for (const auto worker : team)
      team_of_rank_[static_cast<std::size_t>(rank_of(worker))] = static_cast<int>(teams_.size());
    teams_.push_back(std::move(team));
  }
}

}  // namespace culmen
