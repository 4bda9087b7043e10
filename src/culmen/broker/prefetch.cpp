#include "culmen/broker/prefetch.hpp"

#include <algorithm>
#include <cmath>

namespace culmen {
namespace {
constexpr double duration_memory = 0.05;  // weight of the newest duration in the running mean
// A worker that sleeps costs two context switches, at least 5 µs. Therefore many short evaluations wait at a worker,
// but together they take no longer than this. Candidates that wait at one worker cannot be given to an idle one, so the
// broker keeps the last candidates of a generation.
constexpr double waiting_s = 2e-3;
constexpr std::uint32_t most_usually_waiting = 8;
// A worker that waits for its next candidate loses a round trip; if that is less than a tenth of an evaluation, better
// candidates are worth more.
constexpr double round_trips_short = 10;
constexpr double shortest_s = 1e-6;         // of an evaluation
constexpr double round_trip_growth = 1.02;  // of the least round trip, so that it can become longer
}  // namespace

void Prefetch::learn_duration(double duration_s) {
  if (!(duration_s >= 0) || !std::isfinite(duration_s)) return;
  if (mean_duration_s_ < 0) mean_duration_s_ = duration_s;
  mean_duration_s_ += duration_memory * (duration_s - mean_duration_s_);
  if (mean_duration_s_ < terms_.below_s) short_ = true;
  if (mean_duration_s_ >= 2 * terms_.below_s) short_ = false;
}

void RoundTrip::learn(double trip_s) {
  constexpr std::uint64_t more_answers = 4;  // times as many as now, until the next look
  const bool first = seconds_ < 0;
  seconds_ = first ? trip_s : std::min(trip_s, round_trip_growth * seconds_);
  in_doubt_from_ = first ? answers_ : more_answers * answers_;
}

/// A look costs a round trip. A short one changes little.
bool RoundTrip::is_in_doubt() const { return answers_ >= in_doubt_from_ && 2 * seconds() > waiting_s; }

/// Drops the measurement so far: it cannot be judged, because a worker that may now have more candidates has fewer
/// until the next ones arrive.
void Backlog::restart() {
  constexpr std::uint32_t enough_restarts = 8;
  answers_ = 0;
  if (busy_before_ < 0 || ++restarts_ < enough_restarts) return;
  times_ /= 2;
  busy_before_ = -1;
}

void Backlog::see_answer(double now_s, double duration_s, std::uint64_t most, bool may_grow) {
  constexpr std::uint64_t fewest_answers = 16, rounds = 2;
  if (!(duration_s >= 0)) return;
  if (answers_++ == 0) {
    since_s_ = now_s;
    busy_s_ = 0;
    return;
  }
  busy_s_ += duration_s;
  if (answers_ <= std::max(fewest_answers, rounds * most)) return;
  duration_s_ = busy_s_ / static_cast<double>(answers_ - 1);
  answers_ = 0;
  if (now_s > since_s_) judge(busy_s_ / (now_s - since_s_), may_grow);
}

/// More candidates are of use only if the worker evaluates for more of its time with them. One that stays busy may need
/// fewer after some time.
void Backlog::judge(double busy, bool may_grow) {
  constexpr double enough = 0.9, better = 1.05;
  constexpr std::uint32_t longest_rest = 64, most_busy_looks = 64;
  const bool was_of_use = busy_before_ < 0 || busy > better * busy_before_;
  busy_before_ = -1;
  busy_looks_ = busy < enough ? 0 : busy_looks_ + 1;
  if (!was_of_use) {
    times_ /= 2;
    rest_ = next_rest_;
    next_rest_ = std::min(2 * next_rest_, longest_rest);
  } else if (busy_looks_ >= most_busy_looks) {
    times_ = std::max<std::uint64_t>(1, times_ / 2);
    busy_looks_ = 0;
  } else if (rest_ > 0) {
    --rest_;
  } else if (busy < enough && may_grow) {
    busy_before_ = busy;
    restarts_ = 0;
    times_ *= 2;
  }
}

/// An asynchronous optimizer proposes better candidates once it has heard more, so only one waits. A call of a program
/// may be much longer than the mean, so few wait: one in the child, and one that the worker sends there next.
Prefetch::Waiting Prefetch::waiting(const RoundTrip& trip, const Backlog& backlog) const {
  const auto trip_s = trip.seconds();
  if (!terms_.allowed || mean_duration_s_ < 0) return {0, 0};
  if (!short_ && mean_duration_s_ >= round_trips_short * trip_s) return {0, 0};
  if (terms_.batch > 1) return {terms_.batch, terms_.batch};
  if (terms_.only_one) return {1, 1};
  if (terms_.calls) return 2 * mean_duration_s_ <= terms_.below_s ? Waiting{2, 2} : Waiting{1, 1};
  const auto usual = usually_waiting(trip_s);
  const auto most = std::max(usual, most_of(backlog));
  return {std::min(backlog.times() * usual, most), most};
}

std::uint64_t Prefetch::most_of(const Backlog& backlog) const {
  const auto each_s = std::max({mean_duration_s_, backlog.duration_s(), shortest_s});
  return std::min<std::uint64_t>(terms_.most, static_cast<std::uint64_t>(longest_ahead_s / each_s));
}

std::uint64_t Prefetch::in_two_trips(const RoundTrip& trip) const {
  return static_cast<std::uint64_t>(
      std::min<double>(most_waiting, std::ceil(2 * trip.seconds() / std::max(mean_duration_s_, shortest_s))));
}

std::uint64_t Prefetch::usually_waiting(double trip_s) const {
  const auto trips = 2 * trip_s / std::max(mean_duration_s_, shortest_s);
  const auto most = std::clamp<double>(trips, most_usually_waiting, most_waiting);
  const auto ahead_s = std::max(waiting_s, 2 * trip_s);
  if (mean_duration_s_ * most <= ahead_s) return static_cast<std::uint64_t>(most);
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ahead_s / mean_duration_s_));
}

bool Prefetch::shorter_than(const RoundTrip& trip) const {
  return mean_duration_s_ >= 0 && mean_duration_s_ < trip.seconds();
}

}  // namespace culmen
