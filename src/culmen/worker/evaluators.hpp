// The evaluators that make_evaluator chooses from, one source file each.
#pragma once
#include <memory>

#include "culmen/worker/evaluator.hpp"

namespace culmen {

/// A function of the C ABI, called in this process. Throws Error when the library cannot be loaded or has no such
/// symbol.
std::unique_ptr<Evaluator> make_library_evaluator(const SetUp& set_up);
/// A Python function or a library in a child process of its own, which is started by prepare() or the first evaluation
/// and again after it died. The child gets the encoded set-up and answers it and each evaluation over a socket; see
/// channel.hpp.
std::unique_ptr<Evaluator> make_slot_evaluator(const SetUp& set_up);
/// A program, started once per evaluation; see command_protocol.hpp for what it is given and what it has to print.
/// Throws Error when there is no such program.
std::unique_ptr<Evaluator> make_command_evaluator(const SetUp& set_up);

}  // namespace culmen
