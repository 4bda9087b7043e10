// The workers of one run. See workplace.hpp for where they come from.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "culmen/study/config/result.hpp"
#include "culmen/study/crew/team_layout.hpp"
#include "culmen/transport/network/work.hpp"
#include "culmen/transport/transport.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

class Refusals;

/// The same thread makes it and ends it, because MPI requires that. In between the engine uses its transport.
class Crew {
 public:
  virtual ~Crew() = default;
  virtual Transport& transport() = 0;
  virtual std::size_t workers() const = 0;
  /// The number of machines with workers.
  virtual std::size_t nodes() const { return 1; }
  /// Workers from this number on may join and leave during the run. Empty: nobody can join.
  virtual std::optional<WorkerId> first_visitor() const { return {}; }
  /// The address at which other workers can join, with the port that the system chose.
  struct Door {
    std::string address;      ///< empty: nowhere
    std::string fingerprint;  ///< of the certificate; empty without TLS
  };
  virtual Door door() const { return {}; }
  /// After the transport was closed: waits until the workers have ended, and sends `result` to the ranks.
  virtual void conclude(const StudyResult& result) = 0;
};

struct CrewRequest {
  std::size_t workers = 1;
  std::string run_marker;
  Function function;                         ///< EvaluatorKind::function only
  Work work = {};                            ///< for workers that join
  bool starts_processes = false;             ///< evaluators have child processes
  TeamsWanted teams = {};                    ///< of ranks
  std::function<std::string()> status = {};  ///< the state of the study as JSON, for WebPages
  std::shared_ptr<Refusals> refusals = {};   ///< notes workers that are not welcome
};

std::unique_ptr<Crew> make_thread_crew(const CrewRequest& request);
/// Throws InputError for EvaluatorKind::function: a lambda cannot be sent to another process.
std::unique_ptr<Crew> make_process_crew(const CrewRequest& request);

/// Makes evaluators that call `function` if it is not empty, otherwise the evaluators that the set-up describes.
EvaluatorFactory factory_for(Function function);

}  // namespace culmen
