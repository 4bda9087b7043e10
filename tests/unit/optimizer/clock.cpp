#include "unit/optimizer/clock.hpp"

#include <cmath>
#include <queue>
#include <tuple>

namespace culmen {

Duration log_normal(double sigma) {
  return [sigma](const std::vector<double>&, Random& random) { return std::exp(sigma * random.normal()); };
}

double time_to_target(const Problem& problem, std::uint64_t seed, std::size_t workers, const Duration& duration,
                      double horizon) {
  using Running = std::tuple<double, EvaluationId, double>;  // end, id, value
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  const auto optimizer =
      make_optimizer(problem.optimizer, problem.space, seed, problem.options, {.generational = false});
  optimizer->resize(workers);
  Random dice(seed, 5);
  std::vector<Candidate> batch;
  for (double now = 0; now < horizon; now = std::get<0>(running.top())) {
    if (!running.empty()) {
      const auto [end, id, value] = running.top();
      running.pop();
      if (value <= problem.target) return end;
      optimizer->tell(id, std::isnan(value) ? Outcome::failure(Status::failed, "") : Outcome::of_value(value));
    }
    batch.clear();
    optimizer->ask(workers - running.size(), batch);
    for (const auto& c : batch) running.emplace(now + duration(c.x, dice), c.id, problem.objective(c.x));
  }
  return horizon;
}

}  // namespace culmen
