// The evaluators that make_evaluator chooses from, one source file each.
#pragma once
#include <memory>

#include "culmen/worker/evaluator.hpp"

namespace culmen {

/// A function of the C ABI, called in this process. Throws Error when the library cannot be loaded or has no such
/// symbol.
std::unique_ptr<Evaluator> make_library_evaluator(const SetUp& set_up);
/// With a time limit, a start of a slot (its interpreter, the import of the module or the loading of the library) may
/// take that long, but never less than this: the first import from a parallel file system takes much longer than an
/// evaluation.
inline constexpr double shortest_start_limit_s = 60;
/// A Python function or a library in a child process of its own, which is started by prepare() or the first evaluation
/// and again after it died. The child gets the encoded set-up and answers it and each evaluation over a socket; see
/// channel.hpp. A start that takes longer than max(time limit, `start_limit_s`) is killed: prepare() throws Error, an
/// evaluation is timed_out. Without a time limit it may take for ever.
std::unique_ptr<Evaluator> make_slot_evaluator(const SetUp& set_up, double start_limit_s = shortest_start_limit_s);
/// A program, started once per evaluation; see command_protocol.hpp for what it is given and what it has to print.
/// Throws Error when there is no such program.
std::unique_ptr<Evaluator> make_command_evaluator(const SetUp& set_up);

}  // namespace culmen
