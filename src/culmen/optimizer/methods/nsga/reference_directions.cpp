#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/nsga/survival.hpp"

namespace culmen::nsga {
namespace {
using Indices = std::vector<std::size_t>;
using Outcomes = std::vector<const Outcome*>;
using Vector = Eigen::VectorXd;
constexpr double least_intercept = 1e-6;  // as a share of the extent; flatter planes give no information
constexpr double off_axis = 1e6;          // how much other objectives count for an extreme member

/// The number of points with multiples of 1 / divisions in `objectives` coordinates and sum 1. Stops counting beyond
/// `most`.
std::size_t grid_size(std::size_t objectives, std::size_t divisions, std::size_t most) {
  double count = 1;
  for (std::size_t k = 1; k < objectives; ++k) count *= static_cast<double>(divisions + k) / static_cast<double>(k);
  return count > static_cast<double>(most) ? most + 1 : static_cast<std::size_t>(std::round(count));
}

void add_grid(std::vector<double>& begun, std::size_t objectives, std::size_t left, double divisions,
              std::vector<std::vector<double>>& out) {
  if (begun.size() + 1 == objectives) {
    out.push_back(begun);
    out.back().push_back(static_cast<double>(left) / divisions);
    return;
  }
  for (std::size_t k = 0; k <= left; ++k) {
    begun.push_back(static_cast<double>(k) / divisions);
    add_grid(begun, objectives, left - k, divisions, out);
    begun.pop_back();
  }
}

std::size_t divisions_for(std::size_t objectives, std::size_t most) {
  std::size_t divisions = 0;
  while (divisions < most && grid_size(objectives, divisions + 1, most) <= most) ++divisions;
  return divisions;
}

class ByDirections final : public ByFronts {
 public:
  ByDirections(std::uint64_t seed, std::size_t objectives, std::size_t population) : random_(seed, 2) {
    for (const auto& d : reference_directions(objectives, population)) {
      directions_.push_back(Eigen::Map<const Vector>(d.data(), static_cast<Eigen::Index>(d.size())).normalized());
    }
  }

 private:
  struct Place {
    std::size_t direction;
    double distance;
  };

  Indices choose(const Outcomes& outcomes, const Indices& kept, const Indices& front, std::size_t count) override;
  std::vector<Vector> normalized(const Outcomes& outcomes, const Indices& of);
  Place place_of(const Vector& point) const;

  std::vector<Vector> directions_;
  Vector ideal_;  // of all that were seen
  Random random_;
};

/// As shares of the distance from the ideal point to the place where the plane through the extreme members meets the
/// axis. Without such a plane, as shares of the extent.
std::vector<Vector> ByDirections::normalized(const Outcomes& outcomes, const Indices& of) {
  std::vector<Vector> points;
  for (const auto a : of) {
    const auto& v = outcomes[a]->values;
    points.push_back(Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size())) / 2);  // no overflow
  }
  const auto objectives = points.front().size();
  if (ideal_.size() == 0) ideal_ = points.front();
  for (const auto& p : points) ideal_ = ideal_.cwiseMin(p);
  Vector extent = Vector::Zero(objectives);
  for (auto& p : points) {
    p -= ideal_;
    extent = extent.cwiseMax(p);
  }
  for (auto& e : extent) e = e > 0 ? e : 1;
  for (auto& p : points) p = p.cwiseQuotient(extent);
  Eigen::MatrixXd extremes(objectives, objectives);
  for (Eigen::Index k = 0; k < objectives; ++k) {
    const auto farthest = [&](const Vector& p) {
      double most = p(k);
      for (Eigen::Index j = 0; j < objectives; ++j) most = j == k ? most : std::max(most, off_axis * p(j));
      return most;
    };
    extremes.row(k) = *std::ranges::min_element(points, {}, farthest);
  }
  const Vector slopes = extremes.fullPivLu().solve(Vector::Ones(objectives));
  const bool plane = (extremes * slopes).isApprox(Vector::Ones(objectives), 1e-6) && (slopes.array() > 0).all() &&
                     (slopes.array() < 1 / least_intercept).all();
  if (plane) {
    for (auto& p : points) p = p.cwiseProduct(slopes);
  }
  return points;
}

ByDirections::Place ByDirections::place_of(const Vector& point) const {
  Place nearest{0, std::numeric_limits<double>::infinity()};
  for (std::size_t d = 0; d < directions_.size(); ++d) {
    const double distance = (point - point.dot(directions_[d]) * directions_[d]).squaredNorm();
    if (distance < nearest.distance) nearest = {d, distance};
  }
  return nearest;
}

Indices ByDirections::choose(const Outcomes& outcomes, const Indices& kept, const Indices& front, std::size_t count) {
  Indices all = kept;
  all.insert(all.end(), front.begin(), front.end());
  const auto points = normalized(outcomes, all);
  std::vector<std::size_t> members(directions_.size());
  std::vector<std::vector<std::pair<double, std::size_t>>> waiting(directions_.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto place = place_of(points[i]);
    if (i < kept.size()) ++members[place.direction];
    else waiting[place.direction].emplace_back(place.distance, all[i]);
  }
  Indices chosen;
  while (chosen.size() < count) {
    Indices emptiest;
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      if (waiting[d].empty()) continue;
      if (!emptiest.empty() && members[d] < members[emptiest.front()]) emptiest.clear();
      if (emptiest.empty() || members[d] == members[emptiest.front()]) emptiest.push_back(d);
    }
    const auto d = emptiest[random_.below(emptiest.size())];
    auto& here = waiting[d];
    const auto one = members[d] == 0 ? std::ranges::min_element(here)
                                     : here.begin() + static_cast<std::ptrdiff_t>(random_.below(here.size()));
    chosen.push_back(one->second);
    here.erase(one);
    ++members[d];
  }
  return chosen;
}
}  // namespace

std::vector<std::vector<double>> reference_directions(std::size_t objectives, std::size_t most) {
  std::vector<std::vector<double>> out;
  std::vector<double> begun;
  const auto divisions = std::max<std::size_t>(1, divisions_for(objectives, most));
  add_grid(begun, objectives, divisions, static_cast<double>(divisions), out);
  if (divisions >= objectives || most <= out.size()) return out;
  const auto inner = divisions_for(objectives, most - out.size());
  if (inner == 0) return out;
  const auto outer = out.size();
  add_grid(begun, objectives, inner, static_cast<double>(inner), out);
  for (std::size_t i = outer; i < out.size(); ++i) {
    for (double& w : out[i]) w = (w + 1 / static_cast<double>(objectives)) / 2;
  }
  return out;
}

std::unique_ptr<Survival> by_directions(std::uint64_t seed, std::size_t objectives, std::size_t population) {
  return std::make_unique<ByDirections>(seed, objectives, population);
}

}  // namespace culmen::nsga
