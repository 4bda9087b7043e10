// Conditions and numbers: any text is an InputError, or an expression with a finite violation, or any number, anywhere.
#include <cmath>
#include <cstdlib>

#include "culmen/base/error.hpp"
#include "culmen/space/expression.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const std::vector<culmen::Parameter> parameters{culmen::real("x", -1, 1), culmen::integer("n", 0, 9),
                                                         culmen::categorical("m", {"a", "b"}), culmen::boolean("f"),
                                                         culmen::ordinal("o", {1.0, 2.5})};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const culmen::Expression number(text, parameters, culmen::Expression::Type::number);
    std::vector<double> x{0.5, 3, 1, 0, 1};
    x.resize(x.size() + number.figures().size(), 7.0);
    static_cast<void>(number.value(x));
  } catch (const culmen::InputError&) {
  }
  try {
    const culmen::Expression expression(text, parameters);
    for (const double x : {-1.0, 0.0, 0.5, 1e308, std::nan("")}) {
      const double violation = expression.violation(std::vector{x, 3.0, 1.0, 0.0, 1.0});
      if (!(violation >= 0) || !std::isfinite(violation)) std::abort();
    }
  } catch (const culmen::InputError&) {
  }
  return 0;
}
