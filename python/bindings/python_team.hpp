// Members of teams in this process, which runs Python.
#pragma once
#include <memory>

#include "culmen/worker/core/team.hpp"

namespace culmen::bindings {

/// For Python functions and functions in shared libraries. Without the GIL; the evaluator takes it.
std::unique_ptr<Evaluator> make_team_evaluator_here(const SetUp& set_up, const Team& team);

}  // namespace culmen::bindings
