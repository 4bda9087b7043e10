// Commands in sentences, as a user can copy them into a shell.
#pragma once
#include <string>

namespace culmen {

/// The text as one word of a shell, in quotes if it needs them, as shlex.quote in Python.
std::string shell_word(const std::string& text);

}  // namespace culmen
