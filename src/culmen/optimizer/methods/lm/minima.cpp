#include "culmen/optimizer/methods/lm/minima.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/optimizer/methods/lm/magnitude.hpp"

namespace culmen::lm {
namespace {
constexpr std::size_t most_known = 12;
constexpr double may_still_fall = 1e-3;  // a descent near a minimum may still fall by this share
constexpr double same_share = 1e-5;      // sums that differ by less belong to one minimum
constexpr double zero_share = 1e-24;     // of a sum at a start: an exact fit leaves this much through rounding
constexpr double same_place = 0.01;      // of the box
constexpr std::size_t most_places = 64;
}  // namespace

void Minima::begin(double sum) { zero_ = std::min(zero_, zero_share * sum); }

bool Minima::same(double a, double b) const {
  return std::abs(a - b) <= same_share * std::max(a, b) || std::max(a, b) <= zero_;
}

void Minima::visit(const std::vector<double>& x) {
  std::vector<double> place(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) place[i] = magnitude_of(space_[i], x[i]);
  const auto is_here = [&](const std::vector<double>& other) {
    return std::ranges::equal(place, other, [](double a, double b) { return std::abs(a - b) <= same_place; });
  };
  if (std::ranges::any_of(places_, is_here)) ++repeats_;
  else if (places_.size() < most_places) places_.push_back(std::move(place));
}

void Minima::add(Minimum found) {
  ++descents_;
  if (known_.empty()) {
    agreeing_ = 1;
    visit(found.x);
    known_.push_back(std::move(found));
    return;
  }
  auto& best = known_.front();
  if (same(found.sum, best.sum)) {
    ++agreeing_;
    visit(found.x);
    if (found.exact > best.exact || (found.exact == best.exact && found.sum < best.sum)) best = std::move(found);
    return;
  }
  if (found.sum < best.sum) {
    agreeing_ = 1;
    repeats_ = 0;
    places_.clear();
    visit(found.x);
  }
  if (std::ranges::any_of(known_, [&](const Minimum& m) { return same(m.sum, found.sum); })) return;
  known_.insert(std::ranges::upper_bound(known_, found.sum, {}, &Minimum::sum), std::move(found));
  if (known_.size() > most_known) known_.pop_back();
}

bool Minima::worth_refining(double sum) const {
  if (known_.empty()) return true;
  const auto& best = known_.front();
  return same(sum, best.sum) ? !best.exact : sum < best.sum * (1 + may_still_fall);
}

const Minimum& Minima::choose(Random& random) const {
  return known_[random.uniform() < 0.5 ? 0 : random.below(known_.size())];
}

}  // namespace culmen::lm
