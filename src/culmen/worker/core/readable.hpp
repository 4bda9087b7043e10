// Text from other people's programs, on its way into stores, terminals and Python.
#pragma once
#include <string>

namespace culmen {

/// Makes it valid UTF-8 without control characters other than newline and tab: a carriage return becomes a newline, any
/// other such byte a question mark.
void make_readable(std::string& text);

}  // namespace culmen
