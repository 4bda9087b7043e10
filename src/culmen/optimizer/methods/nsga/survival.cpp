#include "culmen/optimizer/methods/nsga/survival.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "culmen/optimizer/methods/nsga/hypervolume.hpp"
#include "culmen/optimizer/parts/ranking.hpp"

namespace culmen::nsga {
namespace {
using Indices = std::vector<std::size_t>;
using Outcomes = std::vector<const Outcome*>;

class ByCrowding final : public Survival {
 public:
  Indices select(const Outcomes& outcomes, std::size_t count) override {
    auto order = ranked(outcomes);
    order.resize(std::min(count, order.size()));
    return order;
  }
  bool ranks() const override { return true; }
};

/// These values as shares of their extent; 0 if all are equal.
std::vector<Values> shares_of_extent(const Outcomes& outcomes, const Indices& of) {
  const auto objectives = outcomes[of.front()]->values.size();
  Values least(objectives, std::numeric_limits<double>::infinity()), most(objectives, -least.front());
  for (const auto a : of) {
    for (std::size_t k = 0; k < objectives; ++k) {
      least[k] = std::min(least[k], outcomes[a]->values[k]);
      most[k] = std::max(most[k], outcomes[a]->values[k]);
    }
  }
  std::vector<Values> out;
  for (const auto a : of) {
    auto& shares = out.emplace_back(outcomes[a]->values);
    for (std::size_t k = 0; k < objectives; ++k) {
      const double extent = most[k] / 2 - least[k] / 2;  // halves, because the difference may overflow
      shares[k] = extent > 0 ? std::clamp((shares[k] / 2 - least[k] / 2) / extent, 0.0, 1.0) : 0;
    }
  }
  return out;
}

class ByHypervolume final : public ByFronts {
 public:
  explicit ByHypervolume(std::uint64_t seed) : random_(seed, 1) {}

 private:
  static constexpr std::size_t most_exact = 3;     // objectives
  static constexpr std::size_t samples = 4000;     // for more
  static constexpr double beyond_the_worst = 1.1;  // the reference, so that extreme members count as others do

  Indices choose(const Outcomes& outcomes, const Indices& /*kept*/, const Indices& front, std::size_t count) override {
    auto points = shares_of_extent(outcomes, front);
    auto places = points.front().size() > most_exact ? sampled(points, count) : exact(points, count);
    for (auto& a : places) a = front[a];
    return places;
  }

  /// Losses only grow when others leave. So only the smallest old loss is computed again, until it is still the
  /// smallest.
  static Indices exact(const std::vector<Values>& points, std::size_t count) {
    const Values reference(points.front().size(), beyond_the_worst);
    struct Loss {
      double volume;
      std::size_t point, computed_at;
      bool operator>(const Loss& other) const {
        return volume != other.volume ? volume > other.volume : point > other.point;
      }
    };
    std::vector<Values> left = points;
    Indices where(points.size()), who(points.size());
    std::priority_queue<Loss, std::vector<Loss>, std::greater<>> queue;
    for (std::size_t i = 0; i < points.size(); ++i) {
      where[i] = who[i] = i;
      queue.push({contribution(left, i, reference), i, left.size()});
    }
    while (left.size() > count) {
      auto least = queue.top();
      queue.pop();
      if (least.computed_at != left.size()) {
        queue.push({contribution(left, where[least.point], reference), least.point, left.size()});
        continue;
      }
      const auto hole = where[least.point];
      left[hole] = std::move(left.back());
      who[hole] = who.back();
      where[who[hole]] = hole;
      left.pop_back();
      who.pop_back();
    }
    std::ranges::sort(who);
    return who;
  }

  Indices sampled(const std::vector<Values>& points, std::size_t count) {
    const Values reference(points.front().size(), beyond_the_worst);
    const auto losses = expected_losses(points, points.size() - count, reference, samples, random_);
    Indices order(points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return losses[i]; });
    order.resize(count);
    std::ranges::sort(order);
    return order;
  }

  Random random_;
};
}  // namespace

Indices ByFronts::select(const Outcomes& outcomes, std::size_t count) {
  auto all = fronts(outcomes);
  Indices kept;
  for (auto& front : all) {
    if (kept.size() >= count) return kept;
    if (kept.size() + front.size() > count) front = choose(outcomes, kept, front, count - kept.size());
    kept.insert(kept.end(), front.begin(), front.end());
  }
  for (const auto a : ranked(outcomes)) {  // one objective, or not feasible
    if (kept.size() >= count) break;
    if (all.empty() || !outcomes[a]->feasible()) kept.push_back(a);
  }
  return kept;
}

std::unique_ptr<Survival> by_crowding() { return std::make_unique<ByCrowding>(); }
std::unique_ptr<Survival> by_hypervolume(std::uint64_t seed) { return std::make_unique<ByHypervolume>(seed); }

}  // namespace culmen::nsga
