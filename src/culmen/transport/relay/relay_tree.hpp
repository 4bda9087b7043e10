// Which relays talk to the master, and which get their work through another relay.
#pragma once
#include <cstddef>
#include <vector>

#include "culmen/transport/line.hpp"

namespace culmen {

/// Node 0 is the master's, and each other node has a relay. If there are more than `flat` nodes, the master talks to
/// about as many relays as the root of their number, and each of these passes on what is for the nodes behind it. A
/// relay and those behind it have consecutive numbers, of which it has the first. Pure.
class RelayTree {
 public:
  explicit RelayTree(std::size_t nodes = 1, std::size_t flat = most_flat_nodes);
  std::size_t nodes() const { return nodes_; }
  /// Of a node from 1 on: the node from which its relay gets work.
  std::size_t parent(std::size_t node) const;
  /// In order.
  std::vector<std::size_t> children(std::size_t node) const;
  /// The nodes from this one to end() − 1 get their work through it.
  std::size_t end(std::size_t node) const;
  /// Relays between the master and the farthest worker that gets its work through this node, or is on its way.
  std::size_t relays_on_way(std::size_t node) const;

 private:
  std::size_t head_of(std::size_t node) const;
  std::size_t nodes_;
  std::vector<std::size_t> heads_;  // nodes whose relays talk to the master
};

}  // namespace culmen
