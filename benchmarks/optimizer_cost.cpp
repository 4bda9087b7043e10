// optimizer_cost [PARAMETERS [OPTIMIZER[:async]…]]: CPU time of ask and tell per candidate, in microseconds. The
// objective is a sphere; the default number of real parameters is 50. Prints medians over slices of 2000 candidates, of
// the first and of the last tenth of 200 000.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "culmen/optimizer/core/optimizer.hpp"

namespace {
using namespace culmen;
constexpr std::size_t candidates = 200'000, slice = 2000, tenth = candidates / slice / 10;

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double sphere(const std::vector<double>& x) {
  double f = 0;
  for (const double v : x) f += (v - 0.3) * (v - 0.3);
  return f;
}

double median(std::vector<double>::const_iterator begin) {
  std::vector<double> of(begin, begin + tenth);
  std::ranges::nth_element(of, of.begin() + tenth / 2);
  return of[tenth / 2];
}

void measure(const std::string& word, std::size_t parameters) {
  std::vector<Parameter> all;
  for (std::size_t i = 0; i < parameters; ++i) all.push_back(real(fmt::format("x{}", i), -1, 1));
  const bool async = word.ends_with(":async");
  const auto name = word.substr(0, word.find(':'));
  const auto optimizer = make_optimizer(name, Space(all), 1, {}, {.mode = mode_if(!async)});
  std::vector<double> costs;
  std::vector<Candidate> batch;
  for (std::size_t k = 0; k < candidates / slice; ++k) {
    double spent = 0;
    for (std::size_t told = 0; told < slice; told += batch.size()) {
      batch.clear();
      const double begin = cpu_s();
      optimizer->ask(std::min<std::size_t>(100, slice - told), batch);
      const double asked = cpu_s();
      std::vector<Outcome> outcomes;
      for (const auto& c : batch) outcomes.push_back(Outcome::of_value(sphere(c.x)));
      const double evaluated = cpu_s();
      for (std::size_t c = 0; c < batch.size(); ++c) optimizer->tell(batch[c].id, std::as_const(outcomes[c]));
      spent += asked - begin + cpu_s() - evaluated;
    }
    costs.push_back(1e6 * spent / slice);
  }
  fmt::print("{:20} {:6.2f} {:6.2f}\n", word, median(costs.begin()), median(costs.end() - tenth));
}
}  // namespace

int main(int argc, char** argv) {
  const std::size_t parameters = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50;
  std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  if (words.empty()) words = {"de", "de:async", "evolution", "evolution:async", "swarm", "swarm:async", "random"};
  for (const auto& word : words) measure(word, parameters);
}
