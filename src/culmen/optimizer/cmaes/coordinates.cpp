#include "culmen/optimizer/cmaes/coordinates.hpp"

#include "culmen/optimizer/cmaes/box.hpp"

namespace culmen::cmaes {
namespace {
constexpr double integer_floor = 0.2;  // of a cell: about one member in 80 leaves its cell in a given coordinate
}

Eigen::VectorXd first_mean(const Space& space) {
  std::vector<double> unit(space.size());
  space.to_unit(space.start(), unit);
  Eigen::VectorXd mean(static_cast<Eigen::Index>(unit.size()));
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const double u = !space[i].initial ? 0.5 : space[i].discrete() ? unit[i] : unbend(unit[i]);
    mean[static_cast<Eigen::Index>(i)] = u;
  }
  return mean;
}

Eigen::VectorXd least_deviations(const Space& space) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(space.size()));
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].discrete()) out[static_cast<Eigen::Index>(i)] = integer_floor / space[i].cells();
  }
  return out;
}

Eigen::VectorXd bent(const Space& space, const Eigen::VectorXd& point) {
  Eigen::VectorXd u = point;
  for (std::size_t i = 0; i < space.size(); ++i) {
    double& y = u[static_cast<Eigen::Index>(i)];
    y = space[i].discrete() ? mirror_into_unit(y) : bend_into_unit(y);
  }
  return u;
}

Density bent(const Space& space, Density density) {
  density.mean = bent(space, density.mean);
  return density;
}

std::vector<double> into_space(const Space& space, const Eigen::VectorXd& point) {
  const Eigen::VectorXd u = bent(space, point);
  std::vector<double> x(u.begin(), u.end());
  space.from_unit(x, x);
  return x;
}

}  // namespace culmen::cmaes
