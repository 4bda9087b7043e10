#include "culmen/optimizer/methods/cmaes/coordinates.hpp"

namespace culmen::cmaes {

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

void confine_to_cube(Distribution& distribution) {
  const auto n = distribution.mean().size();
  distribution.confine(Eigen::VectorXd::Zero(n), Eigen::VectorXd::Ones(n));
}

std::vector<double> into_space(const Space& space, const Eigen::VectorXd& point) {
  const Eigen::VectorXd u = within_cube(point);
  std::vector<double> x(u.begin(), u.end());
  space.from_unit(x, x);
  return x;
}

}  // namespace culmen::cmaes
