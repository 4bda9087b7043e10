// The cost of a candidate of cmaes, ask and tell together, without evaluation: CPU time as {"dimensions": …, "us": …}.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

using namespace culmen;

namespace {
/// A rotated ellipsoid's poor relation: neighbours are coupled, so that the covariance has something to learn.
double valley(const std::vector<double>& x) {
  double f = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double next = i + 1 < x.size() ? x[i + 1] : 0;
    f += (1 + 100 * static_cast<double>(i)) * (x[i] - next / 2) * (x[i] - next / 2);
  }
  return f;
}

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double microseconds_each(std::size_t dimensions, std::size_t candidates, const OptimizerOptions& options) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < dimensions; ++i) parameters.push_back(real("x" + std::to_string(i), -5, 4));
  const auto optimizer = make_optimizer("cmaes", Space(std::move(parameters)), 1, options);
  std::vector<Candidate> batch;
  double spent = 0;
  for (std::size_t told = 0; told < candidates;) {
    batch.clear();
    const double begin = cpu_us();
    optimizer->ask(candidates, batch);
    spent += cpu_us() - begin;
    std::vector<Outcome> outcomes;
    for (const auto& c : batch) outcomes.push_back(Outcome::of_value(valley(c.x)));
    const double again = cpu_us();
    for (std::size_t k = 0; k < batch.size(); ++k) optimizer->tell(batch[k].id, outcomes[k]);
    spent += cpu_us() - again;
    told += batch.size();
  }
  return spent / static_cast<double>(candidates);
}
}  // namespace

/// Arguments: dimensions, candidates, and option=number for cmaes.
int main(int argc, char** argv) {
  const std::size_t dimensions = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50;
  const std::size_t candidates = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 50000;
  OptimizerOptions options;
  for (int k = 3; k < argc; ++k) {
    const std::string word = argv[k];
    const auto at = word.find('=');
    if (at != std::string::npos) options[word.substr(0, at)] = std::strtod(word.c_str() + at + 1, nullptr);
  }
  std::printf("{\"dimensions\": %zu, \"candidates\": %zu, \"us\": %.2f}\n", dimensions, candidates,
              microseconds_each(dimensions, candidates, options));
}
