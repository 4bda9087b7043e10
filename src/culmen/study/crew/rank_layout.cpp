#include "culmen/study/crew/rank_layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace culmen {

RankLayout::RankLayout(const std::vector<std::size_t>& nodes, std::size_t flat) : node_of_(nodes) {
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] >= ranks_.size()) ranks_.resize(nodes[rank] + 1);
    ranks_[nodes[rank]].push_back(static_cast<int>(rank));
  }
  tree_ = RelayTree(ranks_.size(), flat);
}

std::size_t RankLayout::workers_through(std::size_t node) const {
  std::size_t sum = 0;
  for (auto n = node; n < tree_.end(node); ++n) sum += ranks_[n].size() - 1;
  return sum;
}

std::size_t RankLayout::workers() const { return node_of_.size() - nodes(); }

bool RankLayout::is_relay(int rank) const {
  const auto node = node_of(rank);
  return node > 0 && ranks_[node].front() == rank;
}

std::vector<int> RankLayout::relays() const {
  std::vector<int> out;
  for (std::size_t node = 1; node < nodes(); ++node) out.push_back(ranks_[node].front());
  return out;
}

std::vector<int> RankLayout::workers_of(std::size_t node) const {
  return {std::next(ranks_[node].begin()), ranks_[node].end()};
}

std::vector<int> RankLayout::served_by(std::size_t node) const {
  auto out = workers_of(node);
  const auto others = node == 0 ? relays() : std::vector<int>();
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

WorkerId RankLayout::box_of(int rank) const {
  const auto& here = ranks_[node_of(rank)];
  return static_cast<WorkerId>(std::ranges::find(here, rank) - here.begin() - 1);
}

WorkerId RankLayout::first_worker(std::size_t node) const {
  std::size_t before = 0;
  for (std::size_t n = 0; n < node; ++n) before += ranks_[n].size() - 1;
  return static_cast<WorkerId>(before);
}

std::string RankLayout::fault() const {
  if (workers() == 0 && nodes() == 1)
    return "MPI needs at least 2 ranks, a master and a worker; start more ranks, or run without mpiexec";
  for (std::size_t node = 1; node < nodes(); ++node)
    if (ranks_[node].size() == 1)
      return fmt::format(
          "rank {} is alone on its node, and the first rank of every node but the master's passes messages on; start "
          "at "
          "least 2 ranks on each of these nodes",
          ranks_[node].front());
  return {};
}

}  // namespace culmen
