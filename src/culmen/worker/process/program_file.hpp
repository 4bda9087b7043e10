// Checks that a command's program can be started; otherwise says what to do.
#pragma once
#include <string>

namespace culmen {

/// Throws InputError if `file` (absolute; the study calls it `name`) is not executable, or if it is a script whose
/// interpreter does not exist.
void check_program_file(const std::string& name, const std::string& file);
/// Returns "; …" if `name`, which is not on PATH, consists of several words.
std::string hint_at_words(const std::string& name);

}  // namespace culmen
