#include "culmen/optimizer/methods/cmaes/margin.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>

namespace culmen::cmaes {
namespace {
double deviations_to_tail(double probability) {
  return boost::math::quantile(boost::math::complement(boost::math::normal(), probability));
}
}  // namespace

Margin::Margin(const Space& space, std::size_t population) : space_(space) {
  for (std::size_t i = 0; i < space.size(); ++i)
    if (space[i].discrete()) coordinates_.push_back(i);
  const double probability = 1 / static_cast<double>(space.size() * population);
  to_one_tail_ = deviations_to_tail(probability);
  to_two_tails_ = deviations_to_tail(probability / 2);
}

double Margin::confined(std::size_t coordinate, double mean) const {
  return std::clamp(mean, cell(coordinate, 0).middle(), cell(coordinate, 1).middle());
}

double Margin::least_deviation(const Cell& cell) const {
  const bool one_side = cell.first() || cell.last();
  return (cell.upper - cell.lower) / 2 / (one_side ? to_one_tail_ : to_two_tails_);
}

}  // namespace culmen::cmaes
