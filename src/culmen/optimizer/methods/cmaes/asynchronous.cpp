#include "culmen/optimizer/methods/cmaes/asynchronous.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "culmen/base/bytes.hpp"
#include "culmen/base/random.hpp"
#include "culmen/optimizer/methods/cmaes/bipop.hpp"
#include "culmen/optimizer/methods/cmaes/continuous_run.hpp"
#include "culmen/optimizer/methods/cmaes/coordinates.hpp"
#include "culmen/optimizer/parts/constraints.hpp"

namespace culmen::cmaes {
namespace {
// A run's results would be too old: with that many evaluations at a time, for each member of its population, it goes on
// hardly sooner than with fewer.
constexpr std::size_t widest = 4;
// Of a population that nobody chose: a larger one makes hardly larger steps.
constexpr std::size_t most_per_parameter = 10;

/// One of the runs beside each other.
struct Lane {
  ContinuousRun run;
  bool large;
  std::size_t open = 0;

  bool full() const { return open >= widest * run.population(); }
};

using Lanes = std::map<std::uint64_t, Lane>;  // the older ones first

class Asynchronous final : public Optimizer {
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
  bool generational() const override { return false; }
  std::string name() const override { return "cmaes"; }
  void resize(std::size_t workers) override;

 private:
  struct Open {
    std::uint64_t lane;
    Drawn drawn;
  };

  void do_ask(std::size_t n, std::vector<Candidate>& out) override;
  void do_tell(EvaluationId id, const Outcome& outcome) override;
  void do_cancel(EvaluationId id) override;
  std::function<Bytes()> do_job() override;
  void do_adopt(const Bytes& result) override;

  std::size_t population() const;
  std::size_t most_lanes() const { return 1 + workers_ / (widest * population()); }
  void begin(const Run& run, const Eigen::VectorXd& mean);
  void begin_another();
  std::uint64_t next_lane();
  Drawn close(EvaluationId id, Lanes::iterator& lane);

  const Space space_;
  Random random_;
  const AsynchronousSettings settings_;
  const Constraints constraints_;
  std::size_t workers_;
  Bipop bipop_;
  Lanes lanes_;
  std::uint64_t begun_ = 0;
  std::uint64_t fitted_lane_ = 0;  // of the job that is out
  std::unordered_map<EvaluationId, Open> open_;
};

std::size_t Asynchronous::population() const {
  if (settings_.population) return *settings_.population;
  return std::max(Constants::default_population(space_.size()),
                  std::min(workers_ / 2, most_per_parameter * space_.size()));
}

/// Nothing is lost by a change before the first update: what was drawn came from the same distribution.
void Asynchronous::resize(std::size_t workers) {
  workers_ = std::max(workers, settings_.parallel);
  if (settings_.population || begun_ > 1) return;
  bipop_ = Bipop(population());
  if (lanes_.begin()->second.run.has_learnt()) return;
  const Lane before = std::move(lanes_.begin()->second);
  lanes_.clear();
  begun_ = 0;
  begin(bipop_.first(), first_mean(space_));
  auto& lane = lanes_.begin()->second;
  lane.open = before.open;
  lane.run.take_over(before.run, random_);
}

void Asynchronous::begin(const Run& run, const Eigen::VectorXd& mean) {
  lanes_.emplace(
      begun_++,
      Lane{ContinuousRun(space_, settings_, run, mean, settings_.lagrangian ? constraints_.count() : 0), run.large});
}

void Asynchronous::begin_another() {
  Bipop::Running running;
  for (const auto& [id, lane] : lanes_) (lane.large ? running.large : running.small) += lane.run.evaluations();
  const Run run = bipop_.next(running, random_);
  begin(run, random_mean(space_, random_));
}

/// The oldest that can use more results; where there is none and may be no other, the last one.
std::uint64_t Asynchronous::next_lane() {
  const auto free = std::ranges::find_if(lanes_, [](const auto& entry) { return !entry.second.full(); });
  if (free != lanes_.end()) return free->first;
  if (lanes_.size() < most_lanes()) begin_another();
  return lanes_.rbegin()->first;
}

void Asynchronous::do_ask(std::size_t n, std::vector<Candidate>& out) {
  for (std::size_t k = 0; k < n; ++k) {
    const auto id = next_lane();
    auto& lane = lanes_.at(id);
    auto drawn = lane.run.draw(random_);
    ++lane.open;
    out.push_back({0, into_space(space_, drawn.point)});
    open_.emplace(asked() + k, Open{id, std::move(drawn)});
  }
}

Drawn Asynchronous::close(EvaluationId id, Lanes::iterator& lane) {
  auto open = std::move(open_.extract(id).mapped());
  lane = lanes_.find(open.lane);
  if (lane != lanes_.end()) --lane->second.open;
  return std::move(open.drawn);
}

void Asynchronous::do_cancel(EvaluationId id) {
  Lanes::iterator lane;
  close(id, lane);
}

std::function<Bytes()> Asynchronous::do_job() {
  for (auto& [id, lane] : lanes_) {
    auto fit = lane.run.take_fit();
    if (!fit) continue;
    fitted_lane_ = id;
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
  const auto lane = lanes_.find(fitted_lane_);
  if (lane == lanes_.end()) return;
  const auto found = ByteReader(result).doubles();
  lane->second.run.adopt(Eigen::Map<const Eigen::VectorXd>(found.data(), static_cast<Eigen::Index>(found.size())));
}

void Asynchronous::do_tell(EvaluationId id, const Outcome& outcome) {
  Lanes::iterator lane;
  auto drawn = close(id, lane);
  if (lane == lanes_.end()) return;
  ContinuousRun::Measured measured{outcome.value};
  if (constraints_.count() > 0) measured.slacks = constraints_.slacks(into_space(space_, drawn.point), outcome);
  auto& run = lane->second.run;
  if (!run.tell({std::move(drawn), Standing::of(outcome)}, std::move(measured), random_)) return;
  bipop_.ended(lane->second.large, lane->second.run.evaluations());
  lanes_.erase(lane);
  if (lanes_.empty()) begin_another();
}
}  // namespace

std::unique_ptr<Optimizer> make_asynchronous(const Space& space, std::uint64_t seed,
                                             const AsynchronousSettings& settings, const Yield& yield) {
  return std::make_unique<Asynchronous>(space, seed, settings, yield);
}

}  // namespace culmen::cmaes
