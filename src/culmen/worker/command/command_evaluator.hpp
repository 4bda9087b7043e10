// Commands: a program is started for each evaluation.
#pragma once
#include <memory>
#include <string>

#include "culmen/worker/core/evaluator.hpp"

namespace culmen {

/// See command_protocol.hpp for what the program receives, and command_output.hpp for what it must write. Throws Error
/// if there is no such program.
std::unique_ptr<Evaluator> make_command_evaluator(const SetUp& set_up);
/// Throws InputError with one sentence if a command's places, formats or regular expressions are wrong. Starts and
/// opens nothing.
void check_command(const SetUp& set_up);
/// A word of the command that names a file of the study's folder which is not among the inputs: an evaluation would not
/// find it. Returns what to write instead, as a sentence about the command without its end; empty if there is none. The
/// first word is the program, which is looked for in the study's folder.
std::string file_left_behind(const EvaluatorSpec& spec);

}  // namespace culmen
