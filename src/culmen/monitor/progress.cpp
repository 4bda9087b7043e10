#include "culmen/monitor/progress.hpp"

namespace culmen {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::starting:
      return "starting";
    case Phase::replaying:
      return "replaying";
    case Phase::running:
      return "running";
    case Phase::stopping:
      return "stopping";
    case Phase::done:
      return "done";
  }
  return "unknown";
}

}  // namespace culmen
