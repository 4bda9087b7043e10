// The kind of workers of a run: threads, processes, ranks and others. Everything that depends on this kind is decided
// here.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "culmen/study/crew/crew.hpp"
#include "culmen/study/crew/network_crew.hpp"
#include "culmen/study/crew/refusal.hpp"

namespace culmen {

class LentWorkers;

/// The workers that a user asks for.
struct WorkersWanted {
  std::size_t workers = 0;     ///< 0: one for each usable CPU. mpi: the ranks decide
  std::string place = "auto";  ///< a word of the table in workplace.cpp
  std::size_t team_size = 0;   ///< number of ranks that evaluate a candidate together; 0: each rank evaluates alone
  TeamPlacement team_placement = TeamPlacement::node;
  std::shared_ptr<LentWorkers> lent;  ///< if given, they evaluate, whatever the place
  Listening listening;                ///< if given, other workers can join, and workers = 0 means no own workers
};

/// One kind of workers, for one run.
class Workplace {
 public:
  virtual ~Workplace() = default;
  /// The number of evaluations that run at a time. It is known before hire().
  virtual std::size_t workers() const = 0;
  /// The number of workers that share the CPUs of this process. 0 in a launch: each rank knows its own CPUs.
  virtual std::size_t local_workers() const { return workers(); }
  /// Whether workers are processes that the master starts.
  virtual bool starts_processes() const { return false; }
  /// Whether workers are the other ranks of this process's launch.
  virtual bool uses_ranks() const { return false; }
  /// Whether there are workers from the start.
  virtual bool has_own_workers() const { return true; }
  /// Whether other workers can join. A run without workers waits for them.
  virtual bool is_open() const { return false; }
  /// Must be called before anything that may end in abandon().
  virtual void expect() {}
  /// The run cannot start, for this reason.
  virtual void abandon(const Refusal& /*why*/) {}
  /// Starts the workers. Throws InputError or TransportError.
  virtual std::unique_ptr<Crew> hire(const CrewRequest& request) = 0;
};

/// The words by which users choose a place.
std::vector<std::string> place_words();
/// Throws InputError that lists the words, if this is none of them.
void check_place(const std::string& word);

/// Throws InputError if a team is requested but cannot evaluate this.
void check_teams(const WorkersWanted& wanted, const EvaluatorSpec& evaluator);
std::unique_ptr<Workplace> make_workplace(const WorkersWanted& wanted);
/// As Workplace::workers().
std::size_t workers_of(const WorkersWanted& wanted);
/// As Workplace::uses_ranks().
bool uses_ranks(const WorkersWanted& wanted);

}  // namespace culmen
