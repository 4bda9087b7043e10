// Where the workers of a run come from. Everything that depends on the place is decided here.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/network_crew.hpp"

namespace culmen {

/// The table of places in workplace.cpp has their words and makes them.
enum class Place : unsigned char {
  automatic,  ///< mpi in a rank of an MPI launch, else threads
  threads,    ///< of the master; isolated evaluators have a child process each
  processes,  ///< native worker processes
  mpi,        ///< the ranks but the first
};

class LentWorkers;

/// The workers that a user asks for.
struct WorkersWanted {
  std::size_t workers = 0;  ///< 0: one for each usable CPU. mpi: the ranks decide
  Place place = Place::automatic;
  std::size_t team_size = 0;  ///< so many ranks evaluate a candidate together; 0: each rank evaluates alone
  TeamPlacement team_placement = TeamPlacement::node;
  std::shared_ptr<LentWorkers> lent;  ///< if given, they evaluate, whatever the place
  Listening listening;                ///< others may join them. Then there are `workers` of them, also if that is 0
};

/// One place, which one run uses.
class Workplace {
 public:
  virtual ~Workplace() = default;
  /// How many evaluations run at a time. Known before there are workers.
  virtual std::size_t workers() const = 0;
  /// How many of them share the CPUs of this machine.
  virtual std::size_t local_workers() const { return workers(); }
  /// Whether workers are processes that the master starts.
  virtual bool starts_processes() const { return false; }
  /// Whether workers are the other ranks of this process's launch.
  virtual bool uses_ranks() const { return false; }
  /// Workers from this number on come and go; a run without workers waits for them. None: nobody comes.
  virtual std::optional<std::size_t> first_visitor() const { return {}; }
  /// Before anything that may end in abandon().
  virtual void expect() {}
  /// The run cannot start, for this reason.
  virtual void abandon(const std::string& /*message*/) {}
  /// Starts the workers. Throws InputError or TransportError.
  virtual std::unique_ptr<Crew> hire(const CrewRequest& request) = 0;
};

/// Every place with the word that users write for it.
std::vector<std::pair<Place, const char*>> place_words();

/// Throws InputError if a team is wanted that cannot evaluate this.
void check_teams(const WorkersWanted& wanted, const EvaluatorSpec& evaluator);
std::unique_ptr<Workplace> make_workplace(const WorkersWanted& wanted);
/// As Workplace::workers().
std::size_t workers_of(const WorkersWanted& wanted);
/// As Workplace::uses_ranks().
bool uses_ranks(const WorkersWanted& wanted);

}  // namespace culmen
