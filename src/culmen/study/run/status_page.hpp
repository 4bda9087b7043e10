// The state of a run for scripts on other machines.
#pragma once
#include <string>

#include "culmen/monitor/progress.hpp"

namespace culmen {

/// One JSON object. `now_s`: of the engine's clock. Where `culmen status --json` has the same key, it means the same.
std::string status_page(const std::string& study, const Progress& progress, double now_s);

}  // namespace culmen
