// The state of a run for scripts on other machines.
#pragma once
#include <string>

#include "culmen/monitor/progress.hpp"

namespace culmen {

/// One JSON object. `now_s`: the time of the engine's clock. Keys that `culmen status --json` has, too, have the same
/// meaning.
std::string status_page(const std::string& study, const Progress& progress, double now_s);

}  // namespace culmen
