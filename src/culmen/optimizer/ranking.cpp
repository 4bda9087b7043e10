#include "culmen/optimizer/ranking.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "culmen/evaluation/front.hpp"

namespace culmen {
namespace {
using Indices = std::vector<std::size_t>;
using Outcomes = std::vector<const Outcome*>;

bool has_several(const Outcome& o) { return o.feasible() && o.values.size() > 1; }

/// Fast non-dominated sorting: for each of the first `n` of the order the number of its front.
std::vector<std::size_t> fronts_of(const Outcomes& outcomes, std::size_t n) {
  std::vector<Indices> dominated(n);
  Indices dominators(n), front(n), now;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (!dominates(outcomes[a]->values, outcomes[b]->values)) continue;
      dominated[a].push_back(b);
      ++dominators[b];
    }
  }
  for (std::size_t a = 0; a < n; ++a) {
    if (dominators[a] == 0) now.push_back(a);
  }
  for (std::size_t number = 0; !now.empty(); ++number) {
    Indices next;
    for (const auto a : now) {
      front[a] = number;
      for (const auto b : dominated[a]) {
        if (--dominators[b] == 0) next.push_back(b);
      }
    }
    now = std::move(next);
  }
  return front;
}

/// Adds to each of a front how far its neighbours are from each other, as a share of the front's extent.
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

/// Of the first `n`, which all have several values.
Indices ranked_several(const Outcomes& outcomes, std::size_t n) {
  const auto front = fronts_of(outcomes, n);
  std::vector<double> room(n);
  for (std::size_t number = 0;; ++number) {
    Indices of_it;
    for (std::size_t a = 0; a < n; ++a) {
      if (front[a] == number) of_it.push_back(a);
    }
    if (of_it.empty()) break;
    add_crowding(outcomes, std::move(of_it), room);
  }
  Indices order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return front[a] != front[b] ? front[a] < front[b] : room[a] > room[b];
  });
  return order;
}
}  // namespace

Outcome rankable(const Outcome& outcome) {
  Outcome kept = outcome.ok() ? Outcome::of_value(outcome.value) : Outcome::failure(outcome.status, {});
  kept.values = outcome.values;
  kept.violation = outcome.violation;
  kept.check_finite();
  if (outcome.ok() && outcome.violation > 0) kept.status = Status::ok;  // a value may be missing there
  return kept;
}

std::vector<std::size_t> ranked(const Outcomes& outcomes) {
  Indices order(outcomes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return better(*outcomes[a], *outcomes[b]); });
  Outcomes sorted;
  for (const auto a : order) sorted.push_back(outcomes[a]);
  const auto n = std::ranges::find_if_not(sorted, [](const Outcome* o) { return has_several(*o); }) - sorted.begin();
  if (n == 0) return order;
  const Indices before = order;
  std::ranges::transform(ranked_several(sorted, static_cast<std::size_t>(n)), order.begin(),
                         [&](std::size_t k) { return before[k]; });
  return order;
}

}  // namespace culmen
