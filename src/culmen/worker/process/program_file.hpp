// Whether a command's program can be started at all, in words that say what to do.
#pragma once
#include <string>

namespace culmen {

/// Throws InputError where `file` (absolute; the study calls it `name`) is not executable, or is a script of which
/// something that is not there should run.
void check_program_file(const std::string& name, const std::string& file);
/// "; …" where `name`, which is not on PATH, holds several words.
std::string hint_at_words(const std::string& name);

}  // namespace culmen
