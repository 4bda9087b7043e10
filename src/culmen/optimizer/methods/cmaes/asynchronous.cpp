#include "culmen/optimizer/methods/cmaes/asynchronous.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "culmen/base/bytes.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/methods/cmaes/bipop.hpp"
#include "culmen/optimizer/methods/cmaes/continuous_run.hpp"
#include "culmen/optimizer/methods/cmaes/coordinates.hpp"
#include "culmen/optimizer/parts/constraints.hpp"

namespace culmen::cmaes {
namespace {
// With this many parallel evaluations for each member of its population, a run is hardly faster than with fewer,
// because its results are too old.
constexpr std::size_t widest = 4;
// Limits a default population: a larger one hardly makes larger steps.
constexpr std::size_t most_per_parameter = 10;

/// One of the parallel runs.
struct ActiveRun {
  ContinuousRun run;
  bool large;
  std::size_t open = 0;

  bool full() const { return open >= widest * run.population(); }
};

using Runs = std::map<std::uint64_t, ActiveRun>;  // the older ones first

struct Open {
  std::uint64_t run;
  Drawn drawn;
};

class Asynchronous final : public Remembering<Open> {
 public:
  Asynchronous(const Space& space, std::uint64_t seed, const AsynchronousSettings& settings, const Yield& yield)
      : space_(space),
        random_(seed),
        settings_(settings),
        constraints_(space, yield),
        workers_(settings.parallel),
        bipop_(population()) {
    begin(bipop_.first(), first_mean(space_));
  }
  Mode mode() const override { return Mode::asynchronous; }
  std::string name() const override { return "cmaes"; }
  void resize(std::size_t workers) override;

 private:
  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, Open&& open, const Outcome& outcome) override;
  void do_cancel(EvaluationId, Open&& open) override { close(open.run); }
  std::function<Bytes()> do_job() override;
  void do_adopt(const Bytes& result) override;

  std::size_t population() const;
  std::size_t most_runs() const { return 1 + workers_ / (widest * population()); }
  void begin(const Run& run, const Eigen::VectorXd& mean);
  void begin_another();
  std::uint64_t next_run();
  Runs::iterator close(std::uint64_t run);

  const Space space_;
  Random random_;
  const AsynchronousSettings settings_;
  const Constraints constraints_;
  std::size_t workers_;
  Bipop bipop_;
  Runs runs_;
  std::uint64_t begun_ = 0;
  std::uint64_t fitted_run_ = 0;  // of the job that is out
};

std::size_t Asynchronous::population() const {
  if (settings_.population) return *settings_.population;
  return std::max(Constants::default_population(space_.size()),
                  std::min(workers_ / 2, most_per_parameter * space_.size()));
}

/// A change before the first update loses nothing: all points so far came from the same distribution.
void Asynchronous::resize(std::size_t workers) {
  workers_ = std::max(workers, settings_.parallel);
  if (settings_.population || begun_ > 1) return;
  bipop_ = Bipop(population());
  if (runs_.begin()->second.run.has_learnt()) return;
  const ActiveRun before = std::move(runs_.begin()->second);
  runs_.clear();
  begun_ = 0;
  begin(bipop_.first(), first_mean(space_));
  auto& first = runs_.begin()->second;
  first.open = before.open;
  first.run.take_over(before.run, random_);
}

void Asynchronous::begin(const Run& run, const Eigen::VectorXd& mean) {
  runs_.emplace(begun_++,
                ActiveRun{ContinuousRun(space_, settings_, run, mean, settings_.lagrangian ? constraints_.count() : 0),
                          run.large});
}

void Asynchronous::begin_another() {
  Bipop::Running running;
  for (const auto& [id, active] : runs_) (active.large ? running.large : running.small) += active.run.evaluations();
  const Run run = bipop_.next(running, random_);
  begin(run, random_mean(space_, random_));
}

/// The oldest run that can use more results. If there is none and no further run is allowed, the last one.
std::uint64_t Asynchronous::next_run() {
  const auto free = std::ranges::find_if(runs_, [](const auto& entry) { return !entry.second.full(); });
  if (free != runs_.end()) return free->first;
  if (runs_.size() < most_runs()) begin_another();
  return runs_.rbegin()->first;
}

void Asynchronous::do_ask(std::size_t n, Asked& out) {
  for (; n > 0; --n) {
    const auto id = next_run();
    auto& active = runs_.at(id);
    auto drawn = active.run.draw(random_);
    ++active.open;
    auto x = into_space(space_, drawn.point);
    out.give(std::move(x), {id, std::move(drawn)});
  }
}

/// One of its candidates came back. Returns runs_.end() if the run is over.
Runs::iterator Asynchronous::close(std::uint64_t id) {
  const auto active = runs_.find(id);
  if (active != runs_.end()) --active->second.open;
  return active;
}

std::function<Bytes()> Asynchronous::do_job() {
  for (auto& [id, active] : runs_) {
    auto fit = active.run.take_fit();
    if (!fit) continue;
    fitted_run_ = id;
    return [fit = std::move(fit)] {
      const Eigen::VectorXd found = fit->coefficients();
      Bytes out;
      ByteWriter(out).doubles({found.data(), static_cast<std::size_t>(found.size())});
      return out;
    };
  }
  return {};
}

void Asynchronous::do_adopt(const Bytes& result) {
  const auto active = runs_.find(fitted_run_);
  if (active == runs_.end()) return;
  const auto found = ByteReader(result).doubles();
  active->second.run.adopt(Eigen::Map<const Eigen::VectorXd>(found.data(), static_cast<Eigen::Index>(found.size())));
}

void Asynchronous::do_tell(EvaluationId, Open&& open, const Outcome& outcome) {
  const auto active = close(open.run);
  if (active == runs_.end()) return;
  ContinuousRun::Measured measured{outcome.value};
  if (constraints_.count() > 0) measured.slacks = constraints_.slacks(into_space(space_, open.drawn.point), outcome);
  auto& run = active->second.run;
  if (!run.tell({std::move(open.drawn), Standing::of(outcome)}, std::move(measured), random_)) return;
  bipop_.ended(active->second.large, active->second.run.evaluations());
  runs_.erase(active);
  if (runs_.empty()) begin_another();
}
}  // namespace

std::unique_ptr<Optimizer> make_asynchronous(const Space& space, std::uint64_t seed,
                                             const AsynchronousSettings& settings, const Yield& yield) {
  return std::make_unique<Asynchronous>(space, seed, settings, yield);
}

}  // namespace culmen::cmaes
