// Functions that run in a slot: a child process of the worker.
#pragma once
#include <memory>

#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// The start of a slot (its interpreter, the import of the module or the loading of the library) has the same time
/// limit as an evaluation, but at least this one. The first import from a parallel file system takes much longer than
/// an evaluation.
inline constexpr double shortest_start_limit_s = 60;
/// A Python function or a library in its own child process. prepare() or the first evaluation starts the child, and
/// restarts it after it died. The child receives the encoded set-up, answers it, and then answers each evaluation over
/// a socket; see channel.hpp. If a start takes longer than max(time limit, `start_limit_s`), the child is killed:
/// prepare() throws Error, and an evaluation is timed_out. Without a time limit a start may take for ever.
std::unique_ptr<Evaluator> make_slot_evaluator(const SetUp& set_up, double start_limit_s = shortest_start_limit_s);

}  // namespace culmen
