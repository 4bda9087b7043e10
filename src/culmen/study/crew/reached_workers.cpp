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
  for (const auto child : children) {
    ranks.push_back(layout.server(child));
    workers.push_back(layout.workers_through(child));
  }
  line_ = group.line(std::move(ranks), LineEnd::upper);
  const auto own_relay = node == 0 ? 0U : 1U;
  behind_.emplace(*line_, workers, layout.tree().relays_on_way(node) - own_relay);
  merged_.emplace(here_, layout.workers_of(node).size(), *behind_);
}

}  // namespace culmen
