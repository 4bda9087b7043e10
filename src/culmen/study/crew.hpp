// The workers of a run: threads, local processes or MPI ranks over one mailbox.
#pragma once
#include <memory>
#include <string>

#include "culmen/study/config/result.hpp"
#include "culmen/transport/transport.hpp"
#include "culmen/worker/worker.hpp"

namespace culmen {

/// Made and ended by one thread (MPI wants that); its transport is the engine's meanwhile.
class Crew {
 public:
  virtual ~Crew() = default;
  virtual Transport& transport() = 0;
  virtual std::size_t workers() const = 0;
  /// After the transport was closed: waits for the workers' ends and gives `result` to the ranks.
  virtual void conclude(const StudyResult& result) = 0;
};

struct CrewRequest {
  std::size_t workers = 1;
  std::string run_marker;
  Function function;  ///< EvaluatorKind::function only
};

std::unique_ptr<Crew> make_thread_crew(const CrewRequest& request);
/// Throws InputError for EvaluatorKind::function: a lambda cannot be sent to another process.
std::unique_ptr<Crew> make_process_crew(const CrewRequest& request);

/// What a worker evaluates: `function` where there is one, else what the set-up names.
EvaluatorFactory factory_for(Function function);

}  // namespace culmen
