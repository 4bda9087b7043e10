#include "culmen/optimizer/combine/mocma/front.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "culmen/evaluation/front.hpp"

namespace culmen::mocma {
namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();

bool beats(const Outcome& a, const Outcome& b) {
  if (!a.feasible() || !b.feasible() || a.values.size() < 2) return better(a, b);
  return dominates(a.values, b.values);
}

bool same(const Outcome& a, const Outcome& b) {
  if (a.values.size() > 1 && a.feasible()) return b.feasible() && a.values == b.values;
  return !better(a, b) && !better(b, a);
}

/// A random index; its probability is proportional to its weight.
std::size_t drawn(const std::vector<double>& weights, Random& random) {
  double left = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(left > 0)) return random.below(weights.size());
  left *= random.uniform();
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return i;
  }
  return weights.size() - 1;
}
}  // namespace

bool Front::admits(const Outcome& outcome) const {
  return std::ranges::none_of(members_,
                              [&](const Member& m) { return same(m.outcome, outcome) || beats(m.outcome, outcome); });
}

bool Front::add(Member member) {
  if (!admits(member.outcome)) return false;
  std::erase_if(members_, [&](const Member& m) { return beats(member.outcome, m.outcome); });
  const auto id = member.id = next_++;
  const auto first = [](const Member& m) { return m.outcome.value; };
  members_.insert(std::ranges::upper_bound(members_, member.outcome.value, {}, first), std::move(member));
  measure();
  if (members_.size() <= most_) return true;
  drop_least();
  measure();
  return find(id) != nullptr;
}

Member* Front::find(std::uint64_t id) {
  const auto found = std::ranges::find(members_, id, &Member::id);
  return found == members_.end() ? nullptr : &*found;
}

const Member& Front::best_of(std::size_t k) const {
  return *std::ranges::min_element(members_, {}, [&](const Member& m) {
    return k < m.outcome.values.size() ? m.outcome.values[k] : m.outcome.value;
  });
}

const Member& Front::roomy(Random& random) const { return members_[drawn(room_, random)]; }

std::pair<const Member*, const Member*> Front::neighbours(Random& random) const {
  const auto i = gap_.size() + 1 == members_.size() ? drawn(gap_, random) : random.below(members_.size() - 1);
  return {&members_[i], &members_[i + 1]};
}

double Front::share(std::size_t member, std::size_t objective) const {
  return (members_[member].outcome.values[objective] / 2 - lower_[objective]) / extent_[objective];
}

void Front::measure() {
  const auto objectives = members_.front().outcome.feasible() ? members_.front().outcome.values.size() : 0;
  lower_.assign(objectives, infinite);
  extent_.assign(objectives, -infinite);
  for (const auto& m : members_) {
    for (std::size_t k = 0; k < objectives; ++k) {
      const double half = m.outcome.values[k] / 2;  // halves, because the difference may overflow
      lower_[k] = std::min(lower_[k], half);
      extent_[k] = std::max(extent_[k], half);
    }
  }
  for (std::size_t k = 0; k < objectives; ++k) {
    extent_[k] -= lower_[k];
    if (!(extent_[k] > 0)) extent_[k] = 1;
  }
  room_.assign(members_.size(), 0);
  gap_.clear();
  if (objectives == 2) measure_pairs();
}

void Front::measure_pairs() {
  const auto last = members_.size() - 1;
  gap_.resize(last);
  for (std::size_t i = 0; i < last; ++i) gap_[i] = (share(i + 1, 0) - share(i, 0)) * (share(i, 1) - share(i + 1, 1));
  for (std::size_t i = 1; i < last; ++i) room_[i] = (share(i + 1, 0) - share(i, 0)) * (share(i - 1, 1) - share(i, 1));
}

void Front::drop_least() {
  std::vector<char> stays(members_.size(), 0);
  for (std::size_t k = 0; k < std::max<std::size_t>(1, extent_.size()); ++k)
    stays[static_cast<std::size_t>(&best_of(k) - members_.data())] = 1;
  std::size_t least = members_.size();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (stays[i] == 0 && (least == members_.size() || room_[i] < room_[least])) least = i;
  }
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(std::min(least, members_.size() - 1)));
}

}  // namespace culmen::mocma
