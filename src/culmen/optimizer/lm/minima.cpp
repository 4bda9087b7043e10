#include "culmen/optimizer/lm/minima.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::lm {
namespace {
constexpr std::size_t most_known = 12;
constexpr double near_share = 1e-3;  // a descent that is near a minimum may still fall by so much
constexpr double same_share = 1e-5;  // sums that differ by less are of one minimum

bool same(double a, double b) { return std::abs(a - b) <= same_share * std::max(a, b); }
}  // namespace

void Minima::add(Minimum found) {
  ++descents_;
  if (known_.empty()) {
    agreeing_ = 1;
    known_.push_back(std::move(found));
    return;
  }
  auto& best = known_.front();
  if (same(found.sum, best.sum)) {
    ++agreeing_;
    if (found.exact > best.exact || (found.exact == best.exact && found.sum < best.sum)) best = std::move(found);
    return;
  }
  if (found.sum < best.sum) agreeing_ = 1;
  if (std::ranges::any_of(known_, [&](const Minimum& m) { return same(m.sum, found.sum); })) return;
  known_.insert(std::ranges::upper_bound(known_, found.sum, {}, &Minimum::sum), std::move(found));
  if (known_.size() > most_known) known_.pop_back();
}

bool Minima::worth_refining(double sum) const {
  if (known_.empty()) return true;
  const auto& best = known_.front();
  return same(sum, best.sum) ? !best.exact : sum < best.sum * (1 + near_share);
}

const Minimum& Minima::choose(Random& random) const {
  return known_[random.uniform() < 0.5 ? 0 : random.below(known_.size())];
}

}  // namespace culmen::lm
