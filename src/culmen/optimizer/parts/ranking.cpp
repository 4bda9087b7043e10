#include "culmen/optimizer/parts/ranking.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "culmen/evaluation/front.hpp"

namespace culmen {
namespace {
using Indices = std::vector<std::size_t>;
using Outcomes = std::vector<const Outcome*>;

bool has_several(const Outcome& o) { return o.feasible() && o.values.size() > 1; }

/// For each member of a front: adds the distance between its neighbours, as a share of the front's extent.
void add_crowding(const Outcomes& outcomes, Indices front, std::vector<double>& room) {
  const auto objectives = outcomes[front.front()]->values.size();
  for (std::size_t k = 0; k < objectives; ++k) {
    const auto value = [&](std::size_t a) { return outcomes[a]->values[k]; };
    std::ranges::stable_sort(front, {}, value);
    const double extent = value(front.back()) - value(front.front());
    room[front.front()] = room[front.back()] = std::numeric_limits<double>::infinity();
    for (std::size_t j = 1; j + 1 < front.size() && extent > 0; ++j)
      room[front[j]] += (value(front[j + 1]) - value(front[j - 1])) / extent;
  }
}

}  // namespace

Outcome rankable(const Outcome& outcome) {
  Outcome kept = outcome.ok() ? Outcome::of_value(outcome.value) : Outcome::failure(outcome.status, {});
  kept.values = outcome.values;
  kept.violation = outcome.violation;
  kept.check_finite();
  if (outcome.ok() && outcome.violation > 0) kept.status = Status::ok;  // such an outcome may have no value
  return kept;
}

std::vector<Indices> fronts(const Outcomes& outcomes) {
  const auto n = outcomes.size();
  std::vector<Indices> dominated(n), out;
  Indices dominators(n), now;
  for (std::size_t a = 0; a < n; ++a) {
    if (!has_several(*outcomes[a])) continue;
    for (std::size_t b = 0; b < n; ++b) {
      if (!has_several(*outcomes[b]) || !dominates(outcomes[b]->values, outcomes[a]->values)) continue;
      dominated[b].push_back(a);
      ++dominators[a];
    }
    if (dominators[a] == 0) now.push_back(a);
  }
  while (!now.empty()) {
    Indices next;
    for (const auto a : now) {
      for (const auto b : dominated[a]) {
        if (--dominators[b] == 0) next.push_back(b);
      }
    }
    std::ranges::sort(next);
    out.push_back(std::exchange(now, std::move(next)));
  }
  return out;
}

std::vector<std::size_t> ranked(const Outcomes& outcomes) {
  Indices order(outcomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return better(*outcomes[a], *outcomes[b]); });
  Indices position(outcomes.size());
  for (std::size_t k = 0; k < order.size(); ++k) position[order[k]] = k;
  std::vector<double> room(outcomes.size());
  auto place = order.begin();
  for (auto& front : fronts(outcomes)) {
    std::ranges::stable_sort(front, {}, [&](std::size_t a) { return position[a]; });
    add_crowding(outcomes, front, room);
    std::ranges::stable_sort(front, std::greater(), [&](std::size_t a) { return room[a]; });
    place = std::ranges::copy(front, place).out;
  }
  return order;
}

}  // namespace culmen
