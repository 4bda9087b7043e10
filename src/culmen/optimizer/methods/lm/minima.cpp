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
constexpr std::size_t most_places = 64, most_sums = 1024;
constexpr std::uint64_t few_repeats = 6, many_repeats = 12;
constexpr double most_unseen = 0.05, most_unseen_of_few = 0.005;
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

void Minima::count(double sum) {
  const auto next = std::ranges::lower_bound(sums_, sum);
  const bool known = (next != sums_.end() && same(*next, sum)) || (next != sums_.begin() && same(*(next - 1), sum));
  if (known) return;
  if (sums_.size() < most_sums) sums_.insert(next, sum);
  else ++uncounted_;
}

/// The expected share of starting points that lead to minima not yet seen. After n searches found w minima, it is
/// w(w+1)/(n(n-1)); see Boender and Rinnooy Kan, "Bayesian stopping rules for multistart global optimization methods",
/// Mathematical Programming 37, 1987. Places of the best value count as minima.
double Minima::unseen() const {
  const auto n = static_cast<double>(descents_);
  const auto w = static_cast<double>(sums_.size() + uncounted_ + std::max<std::size_t>(places_.size(), 1) - 1);
  return n > 1 ? w * (w + 1) / (n * (n - 1)) : 1;
}

/// Half of all searches; fewer if little is unseen, and less than a quarter if almost nothing is. The numbers come from
/// NIST's regression sets: with weaker conditions, some fits ended at a local minimum that many searches reach.
bool Minima::settled() const {
  if (repeats_ >= few_repeats && 2 * repeats_ >= descents_) return true;
  return repeats_ >= many_repeats && unseen() <= (4 * repeats_ >= descents_ ? most_unseen : most_unseen_of_few);
}

bool Minima::exhausted() const { return since_best_ >= most_in_vain; }

void Minima::add(Minimum found) {
  ++descents_;
  ++since_best_;
  count(found.sum);
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
    repeats_ = since_best_ = 0;
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
