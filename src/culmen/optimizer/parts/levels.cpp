#include "culmen/optimizer/parts/levels.hpp"

namespace culmen {
namespace {
bool takes_all(const Parameter& p, std::size_t points) {
  return !p.choices.empty() || p.kind == ParameterKind::boolean ||
         (p.discrete() && p.cells() <= static_cast<double>(points));
}
}  // namespace

std::vector<std::vector<double>> levels_of(const Space& space, std::size_t points) {
  std::vector<std::vector<double>> levels;
  for (const auto& p : space.parameters()) {
    auto& values = levels.emplace_back();
    const Space alone{[&] {
      auto unconditional = p;
      unconditional.active_when.clear();
      return unconditional;
    }()};
    const auto n = takes_all(p, points) ? static_cast<std::size_t>(p.cells()) : points;
    for (std::size_t k = 0; k < n; ++k) {
      double v = p.lower + static_cast<double>(k);
      if (!takes_all(p, points)) {
        const double u = n == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(n - 1);
        alone.from_unit({&u, 1}, {&v, 1});
      }
      if (values.empty() || values.back() < v) values.push_back(v);
    }
  }
  return levels;
}

}  // namespace culmen
