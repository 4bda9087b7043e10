// Suggestions for misspelt words.
#pragma once
#include <string>
#include <vector>

namespace culmen {

/// Without case, '-', '_' and blanks: "CMA-ES" and "cma_es" are "cmaes".
std::string plain_word(const std::string& word);
/// The first of the known words that differs only in case, '-', '_' and blanks, else one that at most two further
/// edits (Levenshtein's), and at most half its length, lead to; empty: none.
std::string near_word(const std::string& given, const std::vector<std::string>& known);
/// " (did you mean 'word'?)", or nothing.
std::string did_you_mean(const std::string& given, const std::vector<std::string>& known);
/// "; did you mean 'word'?", or "; write one of a, b, c", the first twenty of them.
std::string near_or_all(const std::string& given, const std::vector<std::string>& known);

}  // namespace culmen
