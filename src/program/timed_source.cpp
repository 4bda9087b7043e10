#include "timed_source.hpp"

#include <algorithm>
#include <cmath>

#include "culmen/broker/prefetch.hpp"

namespace culmen {

namespace {
/// More than a worker may get at a time, but so few that they end soon after the measurement.
std::size_t most_open_at_worker(double mean_s) {
  constexpr double enough_s = 2 * Prefetch::longest_ahead_s, least = 4, most = 2 * Prefetch::most_waiting;
  return static_cast<std::size_t>(std::clamp(enough_s / mean_s, least, most));
}
}  // namespace

TimedSource::TimedSource(const Load& load, const Clock& clock)
    : load_(load), most_open_(load.workers * most_open_at_worker(load.mean_s)), clock_(clock) {}

void TimedSource::all_are_there() { begin_s_ = clock_.now_s(); }

double TimedSource::draw() {
  if (load_.spread == 0) return load_.mean_s;
  return load_.mean_s * std::exp(load_.spread * random_.normal() - load_.spread * load_.spread / 2);
}

bool TimedSource::is_long_enough() const {
  const double begin = begin_s_;
  if (begin == 0 || clock_.now_s() < begin + load_.at_least_s) return false;
  const auto first =
      std::partition_point(arrived_.begin(), arrived_.end(), [&](const Arrival& a) { return a.at_s < begin; });
  return static_cast<std::size_t>(arrived_.end() - first) >= load_.rounds * load_.workers;
}

std::size_t TimedSource::ask(std::size_t n, std::vector<Candidate>& out) {
  if (finished_) return 0;
  if (is_long_enough()) {
    end_s_ = clock_.now_s();
    finished_ = true;
    return 0;
  }
  n = std::min(n, most_open_ - std::min(most_open_, durations_s_.size() - told_));
  for (std::size_t i = 0; i < n; ++i) {
    auto& candidate = out.emplace_back(Candidate{durations_s_.size(), {}, {}});
    candidate.x.assign(load_.parameters, 0.5);
    candidate.x[0] = durations_s_.emplace_back(draw());
  }
  return n;
}

bool TimedSource::evaluated(const Outcome& outcome) const {
  arrived_.push_back({clock_.now_s(), outcome.value});
  return true;
}

void TimedSource::tell(EvaluationId id, Outcome& outcome) {
  ++told_;
  wrong_ += outcome.status != Status::ok || outcome.value != durations_s_.at(id);
}

SteadyState TimedSource::steady_state() const {
  const auto at = [&](double time) {
    const auto before = [&](const Arrival& a) { return a.at_s < time; };
    return static_cast<std::size_t>(std::partition_point(arrived_.begin(), arrived_.end(), before) - arrived_.begin());
  };
  const auto workers = load_.workers;
  const auto begin = at(begin_s_) + workers, end = at(end_s_);  // after the first round
  if (end < begin + workers) return {};
  const auto count = (end - begin) / workers * workers;
  SteadyState found{count, arrived_[begin + count - 1].at_s - arrived_[begin - 1].at_s, 0};
  for (auto i = begin; i < begin + count; ++i) found.durations_s += arrived_[i].duration_s;
  return found;
}

}  // namespace culmen
