#include "culmen/optimizer/methods/local/descents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/methods/local/samples.hpp"
#include "culmen/optimizer/parts/constraints.hpp"
#include "culmen/optimizer/parts/lanes.hpp"

namespace culmen {
namespace local {
namespace {
constexpr std::size_t most_given = 100;
constexpr std::size_t sample_every =
    100;                             // evaluations of a descent: it may take long, and a better basin lie elsewhere
constexpr int most_rounds = 4;       // of sampling without a start that keeps its distance
constexpr double same_share = 1e-6;  // of the usual gain of a descent: values that differ by less are the same
constexpr double same_errors = 3;    // times the error of the values: likewise

struct Settings {
  std::string name;
  std::size_t descents, screen;
  double noise, step;
  Mode mode;
  Edition edition;
};

/// One place; the searches in it follow each other.
struct Lane {
  std::unique_ptr<LocalSearch> search;  // none: it looks for a start
  std::vector<Eigen::VectorXd> points;  // of this turn
  std::vector<double> values;
  std::vector<std::vector<double>> slacks;  // if there are constraint figures
  Turn turn;
  std::optional<double> first;  // value of the search
  int rounds = 0;
  std::size_t since_sample = 0;  // evaluations of the search
  bool with_sample = false;      // the last point is a sample
};

struct Origin {
  std::optional<Lanes<Lane>::Place> place;  // none: a sample outside the lanes
  Eigen::VectorXd sample = {};
};

class Descents final : public Remembering<Origin> {
 public:
  Descents(const Space& space, std::uint64_t seed, Settings settings, MakeSearch make, const Yield& yield)
      : space_(space),
        settings_(std::move(settings)),
        constraints_(space, yield),
        make_(std::move(make)),
        samples_(space.size(), seed),
        lanes_(settings_.descents),
        most_lanes_(settings_.descents) {
    Eigen::VectorXd x(static_cast<Eigen::Index>(space.size()));
    space.to_unit(space.start(), {x.data(), space.size()});
    begin(lanes_.front(), x, {});
    propose_all();
  }
  Mode mode() const override { return settings_.mode; }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return settings_.name; }
  std::string remark() const override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;
  void resize(std::size_t workers) override { most_lanes_ = std::max(settings_.descents, workers); }

 private:
  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, Origin&& origin, const Outcome& outcome) override;
  void do_cancel(EvaluationId, Origin&& origin) override { settle(origin, inf); }
  void give(const Eigen::VectorXd& x, Origin origin, Asked& out);
  void give_sample(Asked& out);
  void settle(const Origin& origin, double value);
  void end_generation();
  void propose_all();
  void propose(std::size_t lane);
  void digest(Lane& lane);
  void look_for_start(Lane& lane);
  void begin(Lane& lane, const Eigen::VectorXd& x, std::optional<double> value) {
    if (constraints_.count() > 0) value.reset();
    lane.first = value;
    lane.search = make_({x, value, settings_.step, settings_.noise, constraints_.count(), settings_.edition});
  }
  void conclude(Lane& lane);
  double tolerance(double best) const;

  const Space space_;
  const Settings settings_;
  const Constraints constraints_;
  const MakeSearch make_;
  Samples samples_;
  std::deque<std::pair<Eigen::VectorXd, double>> given_;    // heard of before the first ask
  std::optional<std::pair<Eigen::VectorXd, double>> news_;  // the best heard of since, where nothing began from it
  Lanes<Lane> lanes_;
  std::size_t most_lanes_;
  std::vector<double> firsts_, ends_;  // values of the searches that have ended; firsts_ are finite
};

void Descents::do_ask(std::size_t n, Asked& out) {
  while (n > 0) {
    if (const auto place = lanes_.serve()) {
      give(lanes_[place->lane].points[place->point], {place}, out);
      --n;
    } else if (generational()) {
      return;
    } else if (lanes_.size() < most_lanes_) {
      const auto lane = lanes_.add();
      if (const auto start = samples_.take(false)) begin(lanes_[lane], start->x, start->value);
      propose(lane);
    } else {
      give_sample(out);
      --n;
    }
  }
}

void Descents::give(const Eigen::VectorXd& x, Origin origin, Asked& out) {
  std::vector<double> vector(space_.size());
  if (out.next() == 0) vector = space_.start();
  else space_.from_unit({x.data(), space_.size()}, vector);
  out.give(std::move(vector), std::move(origin));
}

/// A possible later start, while every lane waits.
void Descents::give_sample(Asked& out) {
  const auto x = samples_.fresh();
  give(x, {{}, x}, out);
}

void Descents::do_tell(EvaluationId, Origin&& origin, const Outcome& outcome) {
  const bool of_search = origin.place && lanes_[origin.place->lane].search && constraints_.count() > 0;
  if (of_search) {
    auto& lane = lanes_[origin.place->lane];
    const auto point = origin.place->point;
    std::vector<double> x(space_.size());
    space_.from_unit({lane.points[point].data(), x.size()}, x);
    auto& slacks = lane.slacks[point] = constraints_.slacks(x, outcome);
    if (!slacks.empty() && !(lane.with_sample && point + 1 == lane.points.size())) return settle(origin, outcome.value);
  }
  settle(origin, outcome.feasible() && std::isfinite(outcome.value) ? outcome.value : inf);
}

void Descents::settle(const Origin& origin, double value) {
  if (!origin.place) return samples_.add(origin.sample, value);
  const auto& place = *origin.place;
  auto& lane = lanes_[place.lane];
  lane.values[place.point] = value;
  lanes_.settle(place.lane);
  if (generational()) {
    if (lanes_.settled()) end_generation();
  } else if (lane.turn.settled()) {
    digest(lane);
    propose(place.lane);
  }
}

void Descents::end_generation() {
  for (auto& lane : lanes_) digest(lane);
  propose_all();
}

void Descents::propose_all() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) propose(lane);
}

void Descents::propose(std::size_t place) {
  auto& lane = lanes_[place];
  lane.points.clear();
  if (lane.search && lane.search->over()) conclude(lane);
  if (lane.search) lane.search->propose(lane.points);
  lane.since_sample += lane.points.size();
  lane.with_sample = lane.search && lane.since_sample >= sample_every;
  if (lane.with_sample) {
    lane.since_sample = 0;
    lane.points.push_back(samples_.fresh());
  }
  while (!lane.search && lane.points.size() < settings_.screen) lane.points.push_back(samples_.fresh());
  lane.values.assign(lane.points.size(), inf);
  lane.slacks.assign(constraints_.count() > 0 ? lane.points.size() : 0, {});
  lanes_.begin_turn(place, lane.points.size());
}

void Descents::digest(Lane& lane) {
  if (!lane.search) {
    for (std::size_t k = 0; k < lane.points.size(); ++k) samples_.add(lane.points[k], lane.values[k]);
    return look_for_start(lane);
  }
  if (lane.with_sample) {
    samples_.add(lane.points.back(), lane.values.back());
    lane.values.pop_back();
  }
  if (!lane.first) {
    const auto first = std::ranges::find_if(lane.values, [](double value) { return std::isfinite(value); });
    if (first != lane.values.end()) lane.first = *first;
  }
  if (lane.slacks.empty()) lane.search->digest(lane.values);
  else lane.search->digest(lane.values, lane.slacks);
  if (lane.search->over()) conclude(lane);
}

void Descents::look_for_start(Lane& lane) {
  if (!given_.empty()) {
    begin(lane, given_.front().first, given_.front().second);
    return given_.pop_front();
  }
  if (news_) {
    begin(lane, news_->first, news_->second);
    return news_.reset();
  }
  const auto start = samples_.take(++lane.rounds >= most_rounds);
  if (!start && constraints_.count() == 0) return;
  lane.rounds = 0;
  if (start) begin(lane, start->x, start->value);
  else begin(lane, samples_.fresh(), {});
}

void Descents::conclude(Lane& lane) {
  const double value = lane.search->value();
  samples_.add_minimum(lane.search->x(), value);
  ends_.push_back(value);
  if (lane.first && std::isfinite(*lane.first)) firsts_.push_back(*lane.first);
  lane.search.reset();
}

/// Values that exceed the best one by no more are the same. The median: a few huge values do not change it.
double Descents::tolerance(double best) const {
  const double of_errors = same_errors * settings_.noise * std::abs(best);
  if (firsts_.empty()) return of_errors;
  auto firsts = firsts_;
  const auto middle = firsts.begin() + static_cast<std::ptrdiff_t>(firsts.size() / 2);
  std::ranges::nth_element(firsts, middle);
  return std::max(of_errors, same_share * (*middle - best));
}

void Descents::hear(const std::vector<double>& x, const Outcome& outcome) {
  if (!outcome.feasible() || !std::isfinite(outcome.value)) return;
  Eigen::VectorXd unit(static_cast<Eigen::Index>(x.size()));
  space_.to_unit(x, {unit.data(), x.size()});
  if (asked() > 0) {
    if (!news_ || outcome.value < news_->second) news_.emplace(std::move(unit), outcome.value);
  } else if (given_.size() < most_given) {
    given_.emplace_back(std::move(unit), outcome.value);
  }
}

std::string Descents::remark() const {
  if (ends_.empty()) return "no local search has ended yet";
  const double best = std::ranges::min(ends_), most = best + tolerance(best);
  if (!std::isfinite(best)) return "no local search has found a value yet";
  const auto agreeing = std::ranges::count_if(ends_, [&](double v) { return v <= most; });
  return fmt::format("{} of {} local searches ended at the best value", agreeing, ends_.size());
}

std::vector<OptionRule> options_with(std::vector<OptionRule> own, double step) {
  own.push_back(OptionRule::whole(
      "descents", "number of local searches in parallel; more searches keep more workers busy", 1, 1000, 1));
  own.push_back(OptionRule::number("noise", "relative numerical error of the values", 2.3e-16, 0.1, 2.3e-16));
  own.push_back(
      OptionRule::whole("screen", "number of points that are evaluated to choose a new starting point", 1, 10000, 8));
  own.push_back(
      OptionRule::number("step", "length of the first step, as a fraction of each parameter's range", 1e-6, 1, step));
  std::ranges::sort(own, {}, &OptionRule::name);
  return own;
}
}  // namespace

OptimizerKind descents_kind(OptimizerInfo info, double step, ReadOptions search) {
  info.needs_reals = true;
  info.asynchronous = true;
  info.options = options_with(std::move(info.options), step);
  return {info, [name = info.name, search = std::move(search)](const Space& space, std::uint64_t seed,
                                                               const OptimizerOptions& options, const Terms& terms) {
            return std::make_unique<Descents>(
                space, seed,
                Settings{name, count_of(options, "descents"), count_of(options, "screen"), number_of(options, "noise"),
                         number_of(options, "step"), terms.mode, terms.edition},
                search(options), terms.yield);
          }};
}
}  // namespace local
}  // namespace culmen
