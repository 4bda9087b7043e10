#include "culmen/optimizer/parts/individual.hpp"

#include <algorithm>

#include "culmen/space/scaling.hpp"

namespace culmen {
namespace {
constexpr double first_share = 0.2;   // the first step as a share of the range
constexpr double first_change = 0.3;  // the first probability of a change

double first_step(const Parameter& p) {
  switch (p.kind) {
    case ParameterKind::real:
      return first_share;
    case ParameterKind::integer:
    case ParameterKind::ordinal:
      return std::max(1.0, first_share * p.cells());
    case ParameterKind::categorical:
    case ParameterKind::boolean:
      return first_change;
  }
  return first_share;
}
}  // namespace

std::vector<double> vector_of(const Space& space, const Individual& individual) {
  std::vector<double> x(space.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = space[i].discrete() ? individual.genes[i] : from_unit(space[i], individual.genes[i]);
  space.rest_inactive(x);
  return x;
}

Individual random_individual(const Space& space, Random& random) {
  Individual out;
  for (const auto& p : space.parameters()) {
    const double u = random.uniform();
    out.genes.push_back(p.discrete() ? from_unit(p, u) : u);
    out.steps.push_back(first_step(p));
  }
  return out;
}

Individual individual_at(const Space& space, const std::vector<double>& vector) {
  Individual out{vector, {}};
  std::vector<double> unit(vector.size());
  space.to_unit(vector, unit);
  for (std::size_t i = 0; i < unit.size(); ++i) {
    if (!space[i].discrete()) out.genes[i] = unit[i];
    out.steps.push_back(first_step(space[i]));
  }
  return out;
}

}  // namespace culmen
