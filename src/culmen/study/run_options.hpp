// How one start of a master runs a study.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "culmen/store/journal.hpp"

namespace culmen {

enum class Place : unsigned char {
  automatic,  ///< mpi in a rank of an MPI launch, else threads
  threads,    ///< of the master; isolated evaluators have a child process each
  processes,  ///< native worker processes
  mpi,        ///< the ranks but the first
};

class LentWorkers;

/// None of this changes the candidates of a generational optimizer.
struct RunOptions {
  std::size_t workers = 0;  ///< 0: one per usable CPU. mpi: the ranks decide
  Place place = Place::automatic;
  std::shared_ptr<LentWorkers> lent;  ///< they evaluate, wherever this process is
  bool prefetch = true;
  std::string store;    ///< the study's file; empty: no journal
  bool resume = false;  ///< continue the store instead of making it
  Durability durability = Durability::process;
};

}  // namespace culmen
