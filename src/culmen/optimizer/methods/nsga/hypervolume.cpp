#include "culmen/optimizer/methods/nsga/hypervolume.hpp"

#include <algorithm>
#include <utility>

#include "culmen/evaluation/front.hpp"

namespace culmen::nsga {
namespace {
bool inside(const Values& point, const Values& reference) {
  for (std::size_t k = 0; k < point.size(); ++k) {
    if (!(point[k] < reference[k])) return false;
  }
  return true;
}

/// Of points sorted by the first objective.
double area(const std::vector<Values>& points, const Values& reference) {
  double sum = 0, lowest = reference[1];
  for (const auto& p : points) {
    if (p[1] >= lowest) continue;
    sum += (reference[0] - p[0]) * (lowest - p[1]);
    lowest = p[1];
  }
  return sum;
}

/// Which steps of two objectives bound an area that grows by points.
class Staircase {
 public:
  explicit Staircase(const Values& reference) : reference_(reference) {}
  double area() const { return area_; }

  void add(double x, double y) {
    auto after = std::ranges::upper_bound(steps_, x, {}, &Step::first);
    const double above = after == steps_.begin() ? reference_[1] : std::prev(after)->second;
    if (above <= y) return;
    double from = x, height = above;
    auto last = after;
    for (; last != steps_.end() && last->second >= y; ++last) {
      area_ += (last->first - from) * (height - y);
      from = last->first;
      height = last->second;
    }
    area_ += ((last == steps_.end() ? reference_[0] : last->first) - from) * (height - y);
    after = steps_.erase(after, last);
    steps_.insert(after, {x, y});
  }

 private:
  using Step = std::pair<double, double>;
  const Values& reference_;
  std::vector<Step> steps_;  // the first grows, the second falls
  double area_ = 0;
};

/// Of points sorted by the last objective.
double volume(const std::vector<Values>& points, const Values& reference) {
  Staircase stairs(reference);
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    stairs.add(points[i][0], points[i][1]);
    const double until = i + 1 < points.size() ? points[i + 1][2] : reference[2];
    sum += stairs.area() * (until - points[i][2]);
  }
  return sum;
}

double box(const Values& point, const Values& reference) {
  double product = 1;
  for (std::size_t k = 0; k < point.size(); ++k) product *= reference[k] - point[k];
  return product;
}

/// The others, limited to what `point` dominates, if they dominate a part of it.
std::vector<Values> limited(const std::vector<Values>& others, std::size_t from, std::size_t without,
                            const Values& point) {
  std::vector<Values> out;
  for (std::size_t j = from; j < others.size(); ++j) {
    if (j == without) continue;
    auto& worse = out.emplace_back(others[j]);
    for (std::size_t k = 0; k < worse.size(); ++k) worse[k] = std::max(worse[k], point[k]);
  }
  return out;
}

std::vector<Values> front_of(std::vector<Values> points) {
  std::vector<Values> out;
  std::ranges::sort(points);
  for (auto& p : points) {  // a dominating point comes first
    if (std::ranges::none_of(out, [&](const Values& o) { return o == p || dominates(o, p); }))
      out.push_back(std::move(p));
  }
  return out;
}

/// The expected share of a point that is removed among `removed`, in what i of n points dominate together, times 1/i.
std::vector<double> shares(std::size_t n, std::size_t removed) {
  std::vector<double> out(removed + 1, 0.0);
  double alpha = 1;
  for (std::size_t i = 1; i <= removed; ++i) {
    out[i] = alpha / static_cast<double>(i);
    if (n > i) alpha *= static_cast<double>(removed - i) / static_cast<double>(n - i);
  }
  return out;
}
}  // namespace

double hypervolume(std::vector<Values> points, const Values& reference) {
  std::erase_if(points, [&](const Values& p) { return !inside(p, reference); });
  if (points.empty()) return 0;
  const auto last = reference.size() == 3 ? std::size_t{2} : std::size_t{0};
  std::ranges::sort(points, {}, [&](const Values& p) { return p[last]; });
  if (reference.size() == 1) return reference[0] - points.front()[0];
  if (reference.size() == 2) return area(points, reference);
  if (reference.size() == 3) return volume(points, reference);
  points = front_of(std::move(points));
  double sum = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    sum += box(points[i], reference) - hypervolume(front_of(limited(points, i + 1, i, points[i])), reference);
  return sum;
}

double contribution(const std::vector<Values>& points, std::size_t k, const Values& reference) {
  if (!inside(points[k], reference)) return 0;
  return box(points[k], reference) - hypervolume(limited(points, 0, k, points[k]), reference);
}

std::vector<double> expected_losses(const std::vector<Values>& points, std::size_t removed, const Values& reference,
                                    std::size_t samples, Random& random) {
  std::vector<double> losses(points.size());
  Values ideal = reference, sample(reference.size());
  for (const auto& p : points) {
    for (std::size_t k = 0; k < p.size(); ++k) ideal[k] = std::min(ideal[k], p[k]);
  }
  const auto share = shares(points.size(), removed);
  std::vector<std::size_t> covering;
  for (std::size_t s = 0; s < samples; ++s) {
    for (std::size_t k = 0; k < sample.size(); ++k) sample[k] = ideal[k] + random.uniform() * (reference[k] - ideal[k]);
    covering.clear();
    for (std::size_t i = 0; i < points.size() && covering.size() <= removed; ++i) {
      if (std::ranges::equal(points[i], sample, std::ranges::less_equal{})) covering.push_back(i);
    }
    if (covering.size() > removed) continue;
    for (const auto i : covering) losses[i] += share[covering.size()];
  }
  return losses;
}

}  // namespace culmen::nsga
