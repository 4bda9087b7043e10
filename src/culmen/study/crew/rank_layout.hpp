// The roles of the ranks in a launch: rank 0 is the master, and on every other node the first rank is the relay of the
// others.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "culmen/base/ids.hpp"
#include "culmen/transport/relay/relay_tree.hpp"

namespace culmen {

class RankLayout {
 public:
  /// The node of every rank, as RankGroup::nodes() has them. If there are more than `flat` nodes, relays are a tree.
  explicit RankLayout(const std::vector<std::size_t>& nodes, std::size_t flat = most_flat_nodes);
  std::size_t nodes() const { return ranks_.size(); }
  std::size_t workers() const;
  std::size_t node_of(int rank) const { return node_of_[static_cast<std::size_t>(rank)]; }
  bool is_relay(int rank) const;
  /// Of the nodes 1, 2, …
  std::vector<int> relays() const;
  const RelayTree& tree() const { return tree_; }
  /// The first rank of a node: its relay, or the master.
  int server(std::size_t node) const { return ranks_[node].front(); }
  /// Workers that get their work through this node, its own among them.
  std::size_t workers_through(std::size_t node) const;
  /// The ranks that work on a node.
  std::vector<int> workers_of(std::size_t node) const;
  /// The ranks that get the result from the server of this node: its workers and, on the master's node, all relays.
  std::vector<int> served_by(std::size_t node) const;
  /// The number of a worker among those of its node.
  WorkerId box_of(int rank) const;
  /// The master's number for the first worker of a node.
  WorkerId first_worker(std::size_t node) const;
  /// Why these ranks cannot work; empty if they can.
  std::string fault() const;

 private:
  std::vector<std::size_t> node_of_;
  std::vector<std::vector<int>> ranks_;  // of each node
  RelayTree tree_;
};

}  // namespace culmen
