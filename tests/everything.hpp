// Only `make test-all` runs the long tests.
#pragma once
#include <cstdlib>

namespace culmen {

inline bool tests_everything() { return std::getenv("CULMEN_TEST_ALL") != nullptr; }

}  // namespace culmen
