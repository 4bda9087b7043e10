// Conditions and constraints: any text is an InputError, or a condition with a finite violation anywhere.
#include <cmath>
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/space/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::vector<culmen::Parameter> parameters{culmen::real("x", -1, 1), culmen::integer("n", 0, 9),
                                                         culmen::categorical("m", {"a", "b"}), culmen::boolean("f"),
                                                         culmen::ordinal("o", {1.0, 2.5})};
  try {
    const culmen::Expression expression(std::string_view(reinterpret_cast<const char*>(data), size), parameters);
    for (const double x : {-1.0, 0.0, 0.5, 1e308, std::nan("")}) {
      const double violation = expression.violation(std::vector{x, 3.0, 1.0, 0.0, 1.0});
      if (!(violation >= 0) || !std::isfinite(violation)) std::abort();
    }
  } catch (const culmen::InputError&) {
  }
  return 0;
}
