// The cost of messages in a simulated cluster.
#pragma once
#include <cstddef>

namespace culmen {

/// Times in seconds. Between nodes, messages travel; each carries one or more frames. Inside a node, frames travel
/// through shared memory. A message that a relay passes on costs the same on each part of its way.
struct NetworkModel {
  double latency_s = 25e-6;        ///< of a message, one way, without its bytes
  double bandwidth_bytes_s = 1e9;  ///< of the master's line, or a relay's, each way
  double message_s = 3e-6;         ///< CPU time of one side to send or receive a message
  double wake_s = 10e-6;           ///< of a frame inside a node, one way
  double frame_s = 1e-6;           ///< CPU time of one side to send or receive a frame inside a node, or to pass it on
  double row_s = 4e-6;             ///< of the store's thread, for each row
  double commit_s = 20e-6;         ///< of the store's thread, for each commit
};

/// Nodes have equally many workers. Node 0 is the master's. On every other node a relay stands between its workers and
/// the master. With many nodes, the relays are a tree (transport/relay/relay_tree.hpp).
struct ClusterModel {
  std::size_t workers = 1;
  std::size_t workers_per_node = 64;
  NetworkModel network = {};
  std::size_t nodes() const { return (workers + workers_per_node - 1) / workers_per_node; }
};

}  // namespace culmen
