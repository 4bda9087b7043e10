#include "culmen/study/crew/reached_workers.hpp"

#include <utility>
#include <vector>

namespace culmen {

ReachedWorkers::ReachedWorkers(RankGroup& group, const RankLayout& layout, std::size_t node, MailboxTransport& here)
    : here_(here) {
  const auto children = layout.tree().children(node);
  if (children.empty()) return;
  std::vector<int> ranks;
  std::vector<std::size_t> workers;
  bool are_leaves = true;
  for (const auto child : children) {
    ranks.push_back(layout.server(child));
    workers.push_back(layout.workers_through(child));
    are_leaves = are_leaves && layout.tree().children(child).empty();
  }
  line_ = group.line(std::move(ranks), LineEnd::upper);
  behind_.emplace(*line_, workers, are_leaves ? 1 : 2);
  merged_.emplace(here_, layout.workers_of(node).size(), *behind_);
}

}  // namespace culmen
