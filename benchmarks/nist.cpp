// NIST's 27 regression sets: digits of the parameters and evaluations that lm needs on residuals and cmaes on the sum.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "nist/search.hpp"

namespace {
using namespace culmen::nist;

constexpr std::size_t budget = 200000;
constexpr double wanted_digits = 6;

struct Tally {
  std::size_t reached = 0, evaluations = 0, all = 0;
  double worst_digits = 99;
};

Tally tally(const Set& set, const std::string& optimizer, std::uint64_t seeds) {
  Tally out;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto found = search(set, optimizer, seed, budget, budget);
    const bool reached = found.digits >= wanted_digits;
    out.reached += reached;
    out.evaluations += reached ? found.evaluations_to_digits : 0;
    out.all += found.evaluations;
    out.worst_digits = std::min(out.worst_digits, found.digits);
  }
  return out;
}
}  // namespace

/// nist_table [SEEDS [OPTIMIZER…]]: tables, and a line of JSON with the sets that each optimizer reached with every
/// seed
int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 3;
  std::vector<std::string> optimizers(argv + std::min(argc, 2), argv + argc);
  if (optimizers.empty()) optimizers = {"lm", "cmaes"};
  std::string reached = fmt::format("\"sets\": {}", models().size());
  for (const auto& optimizer : optimizers) {
    fmt::print("{}, {} seeds, {} evaluations\n{:10} {:>7} {:>17} {:>12} {:>12}\n", optimizer, seeds, budget, "set",
               "reached", "mean evaluations", "mean of all", "worst digits");
    std::size_t all = 0, whole = 0;
    for (const auto& model : models()) {
      const auto set = Set::read(model, CULMEN_NIST_DATA);
      const auto t = tally(set, optimizer, seeds);
      all += t.reached;
      whole += t.reached == seeds;
      fmt::print("{:10} {:>3} / {} {:>17} {:>12} {:>12.1f}\n", model.name, t.reached, seeds,
                 t.reached ? fmt::format("{}", t.evaluations / t.reached) : "-", t.all / seeds, t.worst_digits);
    }
    fmt::print("{}: {} of {} searches, {} of {} sets with every seed\n\n", optimizer, all, seeds * models().size(),
               whole, models().size());
    reached += fmt::format(", \"{}\": {}", optimizer, whole);
  }
  fmt::print("{{{}}}\n", reached);
}
