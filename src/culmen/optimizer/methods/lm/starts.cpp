#include "culmen/optimizer/methods/lm/starts.hpp"

#include <algorithm>

#include "culmen/optimizer/methods/lm/magnitude.hpp"

namespace culmen::lm {

Starts::Starts(const Space& space, std::uint64_t seed) : space_(space), random_(seed, 1) {
  if (space.size() <= SobolSequence::most_dimensions) sequence_.emplace(space.size(), seed);
}

std::vector<double> Starts::fresh() {
  std::vector<double> x(space_.size());
  if (sequence_) sequence_->next(x);
  else std::ranges::generate(x, [this] { return random_.uniform(); });
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = of_magnitude(space_[i], x[i]);
  return x;
}

std::vector<double> Starts::changed(const std::vector<double>& x) {
  std::vector<double> out = x;
  const std::size_t surely = random_.below(x.size());
  const double share = 0.5 * random_.uniform();
  const auto renew = [&](std::size_t i) { out[i] = of_magnitude(space_[i], random_.uniform()); };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (random_.uniform() < share) renew(i);
  }
  renew(surely);
  return out;
}

}  // namespace culmen::lm
