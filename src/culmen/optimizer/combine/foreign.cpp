#include "culmen/optimizer/combine/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "culmen/base/error.hpp"

namespace culmen {
namespace {
constexpr std::array<std::string_view, 5> libraries{"nevergrad", "optuna", "pagmo", "pycma", "pygmo"};

ForeignMaker& the_maker() {
  static ForeignMaker maker;
  return maker;
}
}  // namespace

bool is_foreign(const std::string& name) {
  return std::ranges::find(libraries, std::string_view(name).substr(0, name.find(':'))) != libraries.end();
}

void set_foreign_maker(ForeignMaker maker) { the_maker() = std::move(maker); }

std::unique_ptr<Optimizer> make_foreign(const std::string& name, const Space& space, std::uint64_t seed,
                                        const OptimizerOptions& options, const Terms& terms) {
  if (!the_maker())
    throw InputError(fmt::format(
        "optimizer '{}' belongs to a Python library; culmen's command line and Python package can use it, but "
        "a C++ program cannot",
        name));
  return the_maker()(name, space, seed, options, terms);
}

}  // namespace culmen
