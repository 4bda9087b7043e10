#include "culmen/optimizer/methods/lm/coordinates.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/space/scaling.hpp"

namespace culmen::lm {
namespace {
constexpr double least_size_share = 1e-5;  // of the box's width that counts as the size of a parameter near zero

/// In coordinates, which may be logarithms.
double width_between(const Parameter& p, double lower, double upper) {
  return has_bounds(p) ? upper - lower : width_of(p);
}
}  // namespace

Coordinates::Coordinates(const Space& space, bool logarithmic) : parameters_(space.parameters()) {
  const auto n = static_cast<Eigen::Index>(parameters_.size());
  lower_.resize(n);
  upper_.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto& p = parameters_[static_cast<std::size_t>(i)];
    const bool log = p.scale == Scale::log || (logarithmic && p.lower > 0 && has_bounds(p));
    log_.push_back(log);
    lower_[i] = log ? std::log(p.lower) : p.lower;
    upper_[i] = log ? std::log(p.upper) : p.upper;
  }
}

std::vector<double> Coordinates::to_space(const Eigen::VectorXd& z) const {
  std::vector<double> x(parameters_.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const auto& p = parameters_[i];
    if (!(z[k] > lower_[k])) x[i] = p.lower;
    else if (!(z[k] < upper_[k])) x[i] = p.upper;
    else x[i] = std::clamp(log_[i] ? std::exp(z[k]) : z[k], p.lower, p.upper);
  }
  return x;
}

Eigen::VectorXd Coordinates::from_space(std::span<const double> x) const {
  Eigen::VectorXd z(size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    z[k] = std::clamp(log_[i] ? std::log(x[i]) : x[i], lower_[k], upper_[k]);
  }
  return z;
}

double Coordinates::size_of(Eigen::Index i, double z) const {
  const double width = width_between(parameters_[static_cast<std::size_t>(i)], lower_[i], upper_[i]);
  if (log_[static_cast<std::size_t>(i)]) return std::min(1.0, width);
  const double size = std::max(std::abs(z), least_size_share * width);
  return has_bounds(parameters_[static_cast<std::size_t>(i)]) ? std::min(size, width) : size;
}

Eigen::VectorXd Coordinates::sizes_at(const Eigen::VectorXd& z) const {
  Eigen::VectorXd sizes(size());
  for (Eigen::Index i = 0; i < size(); ++i) sizes[i] = size_of(i, z[i]);
  return sizes;
}

}  // namespace culmen::lm
