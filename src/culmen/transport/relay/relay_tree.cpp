#include "culmen/transport/relay/relay_tree.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace culmen {

RelayTree::RelayTree(std::size_t nodes, std::size_t flat) : nodes_(nodes) {
  const auto relays = nodes - 1;
  const auto root = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(relays))));
  const auto heads = nodes <= flat ? relays : root;
  for (std::size_t head = 0; head < heads; ++head) heads_.push_back(1 + head * relays / heads);
}

std::size_t RelayTree::head_of(std::size_t node) const { return *std::prev(std::ranges::upper_bound(heads_, node)); }

std::size_t RelayTree::parent(std::size_t node) const {
  const auto head = head_of(node);
  return head == node ? 0 : head;
}

std::vector<std::size_t> RelayTree::children(std::size_t node) const {
  if (node == 0) return heads_;
  std::vector<std::size_t> out(end(node) - node - 1);
  std::iota(out.begin(), out.end(), node + 1);
  return out;
}

std::size_t RelayTree::end(std::size_t node) const {
  if (node == 0) return nodes_;
  if (head_of(node) != node) return node + 1;
  const auto next = std::ranges::upper_bound(heads_, node);
  return next == heads_.end() ? nodes_ : *next;
}

std::size_t RelayTree::relays_on_way(std::size_t node) const {
  if (node == 0) return heads_.size() + 1 < nodes_ ? 2 : std::min<std::size_t>(1, heads_.size());
  return end(head_of(node)) - head_of(node) > 1 ? 2 : 1;
}

}  // namespace culmen
