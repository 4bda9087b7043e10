// What takes long is a part of `make test-all` only.
#pragma once
#include <cstdlib>

namespace culmen {

inline bool tests_everything() { return std::getenv("CULMEN_TEST_ALL") != nullptr; }

}  // namespace culmen
