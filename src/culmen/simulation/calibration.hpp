// Measures on this machine what a simulation must know of messages and of the store.
#pragma once
#include "culmen/simulation/network_model.hpp"

namespace culmen {

/// Takes about half a second. Messages between nodes: TCP over the loopback device. Inside a node: the mailbox, with a
/// worker thread that answers. The store: a file in a temporary folder. Each figure is the least of several, as others
/// may use the machine. Throws Error if a socket or a file cannot be made.
NetworkModel measured_here();

}  // namespace culmen
