#include "culmen/optimizer/lm/minima.hpp"

#include <algorithm>
#include <cmath>

namespace culmen::lm {
namespace {
constexpr std::size_t most_known = 12;
constexpr double same_share = 1e-5;  // sums that differ by less are of one minimum

bool same(double a, double b) { return std::abs(a - b) <= same_share * std::max(a, b); }
}  // namespace

void Minima::add(std::vector<double> x, double sum, bool exact) {
  ++descents_;
  if (!known_.empty() && same(sum, known_.front().sum)) {
    ++agreeing_;
    if (exact && sum < known_.front().sum) known_.front() = {std::move(x), sum};
    return;
  }
  if (known_.empty() || sum < known_.front().sum) agreeing_ = 1;
  const auto twin = std::ranges::find_if(known_, [&](const Minimum& m) { return same(m.sum, sum); });
  if (twin != known_.end()) return;
  known_.push_back({std::move(x), sum});
  std::ranges::stable_sort(known_, {}, &Minimum::sum);
  if (known_.size() > most_known) known_.pop_back();
}

bool Minima::worth_refining(double sum) const {
  return known_.empty() || (sum < known_.front().sum * (1 + 1e-3) && !same(sum, known_.front().sum)) ||
         sum < known_.front().sum;
}

const Minimum& Minima::choose(Random& random) const {
  return known_[random.uniform() < 0.5 ? 0 : random.below(known_.size())];
}

}  // namespace culmen::lm
