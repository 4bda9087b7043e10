#include "unit/optimizer/clock.hpp"

#include <cmath>
#include <queue>
#include <tuple>

namespace culmen {

Duration log_normal(double sigma) {
  return [sigma](const std::vector<double>&, Random& random) { return std::exp(sigma * random.normal()); };
}

double run_on_clock(Optimizer& optimizer, std::size_t workers, const std::function<Timed(const Candidate&)>& measure,
                    const std::function<bool(double value)>& enough, double horizon) {
  using Running = std::tuple<double, EvaluationId, double>;  // end, id, value
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
  optimizer.resize(workers);
  std::vector<Candidate> batch;
  double now = 0;
  while (now < horizon) {
    batch.clear();
    optimizer.ask(workers - running.size(), batch);
    for (const auto& c : batch) {
      const auto timed = measure(c);
      running.emplace(now + timed.duration, c.id, timed.value);
    }
    if (running.empty() || optimizer.finished()) return now;
    const auto [end, id, value] = running.top();
    running.pop();
    now = end;
    if (enough(value)) return now;
    optimizer.tell(id, std::isnan(value) ? Outcome::failure(Status::failed, "") : Outcome::of_value(value));
  }
  return horizon;
}

double time_to_target(const Problem& problem, std::uint64_t seed, std::size_t workers, const Duration& duration,
                      double horizon) {
  const auto optimizer =
      make_optimizer(problem.optimizer, problem.space, seed, problem.options, {.mode = Mode::asynchronous});
  Random dice(seed, 5);
  const auto measure = [&](const Candidate& c) { return Timed{problem.objective(c.x), duration(c.x, dice)}; };
  const auto reached = [&](double value) { return value <= problem.target; };
  return run_on_clock(*optimizer, workers, measure, reached, horizon);
}

}  // namespace culmen
