// Comparing what nobody should guess.
#pragma once
#include <string_view>

namespace culmen {

/// Takes the same time wherever they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace culmen
