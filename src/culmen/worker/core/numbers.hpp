// Words and numbers in the output of other programs.
#pragma once
#include <optional>
#include <string_view>

namespace culmen {

inline constexpr std::string_view blanks = " \t\r\n\v\f";

std::string_view trim(std::string_view text);
/// Removes the first word from the text and returns it; empty at the end.
std::string_view take_word(std::string_view& text);
/// The number, if the whole word is one; Fortran's exponents are allowed (1.5D-3).
std::optional<double> number(std::string_view word);

}  // namespace culmen
