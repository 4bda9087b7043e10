#include "culmen/optimizer/cmaes/coordinates.hpp"

namespace culmen::cmaes {
namespace {
constexpr double integer_floor = 0.2;  // of a cell: about one member in 80 leaves its cell in a given coordinate
}

Eigen::VectorXd first_mean(const Space& space) {
  std::vector<double> unit(space.size());
  space.to_unit(space.start(), unit);
  Eigen::VectorXd mean(static_cast<Eigen::Index>(unit.size()));
  for (std::size_t i = 0; i < unit.size(); ++i) {
    mean[static_cast<Eigen::Index>(i)] = space[i].initial ? unit[i] : 0.5;
  }
  return mean;
}

Eigen::VectorXd random_mean(const Space& space, Random& random) {
  Eigen::VectorXd mean(static_cast<Eigen::Index>(space.size()));
  for (double& m : mean) m = random.uniform();
  return mean;
}

std::vector<char> real_ones(const Space& space) {
  std::vector<char> out;
  for (const auto& p : space.parameters()) out.push_back(!p.discrete());
  return out;
}

Eigen::VectorXd least_deviations(const Space& space) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(space.size()));
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].discrete()) out[static_cast<Eigen::Index>(i)] = integer_floor / space[i].cells();
  }
  return out;
}

void confine_to_cube(const Space& space, Distribution& distribution) {
  const auto n = static_cast<Eigen::Index>(space.size());
  Eigen::VectorXd insets = Eigen::VectorXd::Zero(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& p = space[static_cast<std::size_t>(i)];
    if (p.discrete()) insets[i] = 0.5 / p.cells();
  }
  distribution.confine(Eigen::VectorXd::Zero(n), Eigen::VectorXd::Ones(n), std::move(insets));
}

std::vector<double> into_space(const Space& space, const Eigen::VectorXd& point) {
  const Eigen::VectorXd u = within_cube(point);
  std::vector<double> x(u.begin(), u.end());
  space.from_unit(x, x);
  return x;
}

}  // namespace culmen::cmaes
