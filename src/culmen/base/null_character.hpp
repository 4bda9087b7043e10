// Null characters in the strings of users: a C string would end there.
#pragma once
#include <string>
#include <string_view>

namespace culmen {

inline bool has_null(std::string_view text) { return text.find('\0') != std::string_view::npos; }
/// With \0 in place of each.
std::string without_null(const std::string& text);
/// Throws InputError if the name of a `what`, such as "parameter", has one.
void check_for_null(const char* what, const std::string& name);

}  // namespace culmen
