#include "culmen/optimizer/evolution/ranking.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "culmen/evaluation/front.hpp"

namespace culmen::evolution {
namespace {
using Indices = std::vector<std::size_t>;

bool has_several(const Outcome& o) { return o.feasible() && o.values.size() > 1; }

/// Fast non-dominated sorting: for each of the first `n` the number of its front.
std::vector<std::size_t> fronts_of(const std::vector<Individual>& members, std::size_t n) {
  std::vector<Indices> dominated(n);
  Indices dominators(n), front(n), now;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (!dominates(members[a].outcome.values, members[b].outcome.values)) continue;
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
void add_crowding(const std::vector<Individual>& members, Indices front, std::vector<double>& room) {
  const auto objectives = members[front.front()].outcome.values.size();
  for (std::size_t k = 0; k < objectives; ++k) {
    const auto value = [&](std::size_t a) { return members[a].outcome.values[k]; };
    std::ranges::stable_sort(front, {}, value);
    const double extent = value(front.back()) - value(front.front());
    room[front.front()] = room[front.back()] = std::numeric_limits<double>::infinity();
    for (std::size_t j = 1; j + 1 < front.size() && extent > 0; ++j)
      room[front[j]] += (value(front[j + 1]) - value(front[j - 1])) / extent;
  }
}

void rank_several(std::vector<Individual>& members, std::size_t n) {
  const auto front = fronts_of(members, n);
  std::vector<double> room(n);
  for (std::size_t number = 0;; ++number) {
    Indices of_it;
    for (std::size_t a = 0; a < n; ++a) {
      if (front[a] == number) of_it.push_back(a);
    }
    if (of_it.empty()) break;
    add_crowding(members, std::move(of_it), room);
  }
  Indices order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return front[a] != front[b] ? front[a] < front[b] : room[a] > room[b];
  });
  std::vector<Individual> sorted;
  for (const auto a : order) sorted.push_back(std::move(members[a]));
  std::ranges::move(sorted, members.begin());
}
}  // namespace

void rank(std::vector<Individual>& members) {
  std::ranges::stable_sort(members,
                           [](const Individual& a, const Individual& b) { return better(a.outcome, b.outcome); });
  const auto n = std::ranges::find_if_not(members, [](const Individual& m) { return has_several(m.outcome); });
  if (n != members.begin()) rank_several(members, static_cast<std::size_t>(n - members.begin()));
}

}  // namespace culmen::evolution
