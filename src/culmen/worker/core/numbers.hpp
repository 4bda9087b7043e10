// Words and numbers in what other programs wrote.
#pragma once
#include <optional>
#include <string_view>

namespace culmen {

inline constexpr std::string_view blanks = " \t\r\n\v\f";

std::string_view trim(std::string_view text);
/// Takes the first word off the text; empty at its end.
std::string_view take_word(std::string_view& text);
/// A whole word that is a number, also with Fortran's exponents (1.5D-3).
std::optional<double> number(std::string_view word);

}  // namespace culmen
