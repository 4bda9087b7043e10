#include "nist/search.hpp"

#include <limits>

#include "culmen/optimizer/core/optimizer.hpp"

namespace culmen::nist {

Found search(const Set& set, const std::string& optimizer, std::uint64_t seed, std::size_t budget,
             std::size_t afterwards) {
  const auto lead = make_optimizer(optimizer, box_of(set.starts), seed, {}, {{true, 1}});
  Found found{std::numeric_limits<double>::infinity()};
  std::vector<Candidate> batch;
  auto& told = found.evaluations;
  while (told < budget && !lead->converged()) {
    if (found.evaluations_to_digits > 0 && told > found.evaluations_to_digits + afterwards) break;
    batch.clear();
    if (lead->ask(budget - told, batch) == 0) break;
    for (const auto& c : batch) {
      const auto outcome = set.outcome(c.x);
      ++told;
      if (outcome.ok() && outcome.value < found.sum) {
        found.sum = outcome.value;
        found.digits = set.digits(c.x);
        if (found.digits < 6) found.evaluations_to_digits = 0;
        else if (found.evaluations_to_digits == 0) found.evaluations_to_digits = told;
      }
      lead->tell(c.id, outcome);
    }
  }
  return found;
}

}  // namespace culmen::nist
