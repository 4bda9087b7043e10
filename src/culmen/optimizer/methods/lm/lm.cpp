// "lm": least squares by Levenberg and Marquardt from many starts, for residuals and real parameters only. The user's
// starts come first. When a descent has ended, the next one starts. It starts at the best of a few points of the box,
// or at a known minimum with new random values of some parameters (iterated local search: Lourenço, Martin and Stützle,
// Handbook of Metaheuristics, 2003). Descents alternate between the parameters and their logarithms, until enough of
// them agree (Minima::settled) or have ended.
#include "culmen/optimizer/methods/lm/lm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "culmen/base/random.hpp"
#include "culmen/evaluation/goals.hpp"
#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/methods/lm/descent.hpp"
#include "culmen/optimizer/methods/lm/minima.hpp"
#include "culmen/optimizer/methods/lm/starts.hpp"
#include "culmen/optimizer/parts/lanes.hpp"

namespace culmen {
namespace lm {
namespace {
constexpr std::size_t most_given = 100;

struct Settings {
  std::optional<std::size_t> agreement;  // none: Minima::settled
  std::size_t descents, screen, searches;
  double noise;
  Loss loss;
  Mode mode;
  Edition edition;
};

/// One place; the descents in it follow each other.
struct Lane {
  bool logarithmic = false;
  std::optional<Descent> descent;           // none: it looks for a start
  bool given = false;                       // the descent began at a point that was heard of
  bool near = false;                        // the descent is near a minimum, and counts for option `searches`
  std::vector<std::vector<double>> points;  // of this turn
  std::vector<Reply> replies;
  Turn turn;
};

using Place = Lanes<Lane>::Place;

/// Without residuals if it failed or is not finite or not feasible.
Reply reply_of(const Outcome& outcome) {
  const Eigen::Map<const Eigen::VectorXd> residuals(outcome.residuals.data(),
                                                    static_cast<Eigen::Index>(outcome.residuals.size()));
  if (!outcome.feasible() || !std::isfinite(outcome.value) || !residuals.allFinite()) return {};
  return {residuals, outcome.value};
}

class LevenbergMarquardt final : public Remembering<Place> {
 public:
  LevenbergMarquardt(const Space& space, std::uint64_t seed, const Settings& settings)
      : settings_(settings),
        plain_(std::make_shared<Coordinates>(space, false)),
        logarithmic_(std::make_shared<Coordinates>(space, true)),
        random_(seed, 2),
        starts_(space, seed),
        minima_(space),
        lanes_(settings.descents),
        most_lanes_(settings.descents) {}
  Mode mode() const override { return settings_.mode; }
  bool finished() const override { return false; }
  bool converged() const override { return searched() || agreed(); }
  bool can_converge() const override { return settings_.searches > 0 || settings_.agreement != 0; }
  bool waits_for_starts() const override { return starts_first(); }
  void resize(std::size_t workers) override { most_lanes_ = std::max(settings_.descents, workers); }
  std::string name() const override { return "lm"; }
  std::string remark() const override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override;

 private:
  bool searched() const { return settings_.searches > 0 && near_minima_ >= settings_.searches; }
  bool agreed() const;
  bool starts_first() const { return settings_.edition >= Edition::second; }
  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId, Place&& place, const Outcome& outcome) override { settle(place, reply_of(outcome)); }
  void do_cancel(EvaluationId, Place&& place) override { settle(place, {}); }
  void settle(const Place& place, Reply reply);
  void propose_all();
  bool only_given() const;
  std::size_t new_lane();
  void retire(std::size_t lane);
  void seek(Lane& lane);
  void propose(std::size_t lane);
  void digest(Lane& lane);
  void start(Lane& lane);
  void begin_at_given(Lane& lane);
  void begin(Lane& lane, const std::vector<double>& x, Reply reply);
  void count(Lane& lane);
  void conclude(Lane& lane);

  const Settings settings_;
  std::shared_ptr<const Coordinates> plain_, logarithmic_;
  Random random_;
  Starts starts_;
  std::deque<std::pair<std::vector<double>, Reply>> given_;  // heard of, for later descents
  Minima minima_;
  Lanes<Lane> lanes_;
  std::uint64_t started_ = 0;
  std::uint64_t near_minima_ = 0;     // descents that came near a minimum or gave up
  bool began_ = false;                // the lanes have points
  std::vector<std::size_t> retired_;  // lanes
  std::size_t most_lanes_;            // without generations: those beyond retire when their descents have ended
};

/// Until the descents from given points have ended, no other evaluation delays them. Without generations, other
/// descents begin only if workers would be idle.
void LevenbergMarquardt::propose_all() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const bool rests = starts_first() && !lanes_[lane].descent && given_.empty() && only_given();
    if (!rests) propose(lane);
    else if (generational()) lanes_.begin_turn(lane, 0);
    else retire(lane);
  }
}

bool LevenbergMarquardt::only_given() const {
  return std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.descent && lane.given; });
}

void LevenbergMarquardt::propose(std::size_t place) {
  auto& lane = lanes_[place];
  lane.points.clear();
  while (starts_first() && !lane.descent && !given_.empty()) {
    begin_at_given(lane);
    if (!lane.descent->over()) continue;
    count(lane);
    conclude(lane);
  }
  if (lane.descent) {
    std::vector<Eigen::VectorXd> points;
    lane.descent->propose(points);
    for (const auto& z : points) lane.points.push_back(lane.descent->coordinates().to_space(z));
  } else {
    seek(lane);
  }
  lane.replies.assign(lane.points.size(), {});
  lanes_.begin_turn(place, lane.points.size());
}

void LevenbergMarquardt::seek(Lane& lane) {
  const std::uint64_t turn = started_++;
  lane.logarithmic = turn / 2 % 2 == 1;
  const bool anew = minima_.empty() || turn % 2 == 0;
  const auto* from = anew ? nullptr : &minima_.choose(random_);
  while (lane.points.size() < settings_.screen)
    lane.points.push_back(anew ? starts_.fresh() : starts_.changed(from->x));
}

void LevenbergMarquardt::do_ask(std::size_t n, Asked& out) {
  if (!std::exchange(began_, true)) propose_all();
  while (n > 0) {
    if (const auto place = lanes_.serve()) {
      out.give(lanes_[place->lane].points[place->point], *place);
      --n;
    } else if (generational()) {
      return;
    } else {
      propose(new_lane());
    }
  }
}

void LevenbergMarquardt::hear(const std::vector<double>& x, const Outcome& outcome) {
  if (auto reply = reply_of(outcome); reply.ok() && given_.size() < most_given) given_.push_back({x, std::move(reply)});
}

void LevenbergMarquardt::settle(const Place& place, Reply reply) {
  auto& lane = lanes_[place.lane];
  lane.replies[place.point] = std::move(reply);
  lanes_.settle(place.lane);
  if (generational()) {
    if (!lanes_.settled()) return;
    for (auto& l : lanes_) digest(l);
    return propose_all();
  }
  if (!lane.turn.settled()) return;
  digest(lane);
  const bool one_too_many = !lane.descent && lanes_.size() - retired_.size() > most_lanes_;
  if (one_too_many) return retire(place.lane);
  propose(place.lane);
}

std::size_t LevenbergMarquardt::new_lane() {
  if (retired_.empty()) return lanes_.add();
  const auto place = retired_.back();
  retired_.pop_back();
  return place;
}

void LevenbergMarquardt::retire(std::size_t lane) {
  lanes_[lane].points.clear();
  lanes_.begin_turn(lane, 0);
  retired_.push_back(lane);
}

void LevenbergMarquardt::digest(Lane& lane) {
  if (!lane.descent) start(lane);
  else lane.descent->digest(lane.replies);
  if (!lane.descent) return;
  if (lane.descent->rests() || lane.descent->over()) count(lane);
  if (lane.descent->rests() && minima_.worth_refining(lane.descent->sum())) lane.descent->refine();
  if (lane.descent->rests() || lane.descent->over()) conclude(lane);
}

/// Each descent once. Option `searches` asks for fits, not for all digits of a minimum, so refining comes after this.
void LevenbergMarquardt::count(Lane& lane) {
  if (!std::exchange(lane.near, true)) ++near_minima_;
}

void LevenbergMarquardt::start(Lane& lane) {
  if (!starts_first() && !given_.empty()) return begin_at_given(lane);
  std::optional<std::size_t> best;
  for (std::size_t k = 0; k < lane.replies.size(); ++k) {
    if (lane.replies[k].ok() && (!best || lane.replies[k].sum < lane.replies[*best].sum)) best = k;
  }
  if (!best) return;
  begin(lane, lane.points[*best], std::move(lane.replies[*best]));
}

/// At the best one; in the first edition, in their order.
void LevenbergMarquardt::begin_at_given(Lane& lane) {
  auto next = given_.begin();
  if (starts_first())
    lane.logarithmic = false,
    next = std::ranges::min_element(given_, {}, [](const auto& point) { return point.second.sum; });
  begin(lane, next->first, std::move(next->second));
  lane.given = true;
  given_.erase(next);
}

void LevenbergMarquardt::begin(Lane& lane, const std::vector<double>& x, Reply reply) {
  minima_.begin(reply.sum);
  const auto& coordinates = lane.logarithmic ? logarithmic_ : plain_;
  lane.given = lane.near = false;
  lane.descent.emplace(coordinates, coordinates->from_space(x), std::move(reply), settings_.noise, settings_.loss,
                       settings_.edition >= Edition::fifth);
}

void LevenbergMarquardt::conclude(Lane& lane) {
  const auto& d = *lane.descent;
  minima_.add({d.coordinates().to_space(d.z()), d.sum(), d.exact()});
  lane.descent.reset();
}

bool LevenbergMarquardt::agreed() const {
  if (!given_.empty()) return false;
  if (!settings_.agreement) return minima_.settled() || minima_.exhausted();
  return *settings_.agreement > 0 && minima_.repeats() >= *settings_.agreement;
}

std::string LevenbergMarquardt::remark() const {
  if (searched())
    return fmt::format("option 'searches' ended the study after {} local search{}; with searches = 0 it continues",
                       near_minima_, near_minima_ == 1 ? "" : "es");
  if (minima_.descents() == 0) return "no local search has ended yet";
  const auto found =
      fmt::format("{} of {} local searches ended at the best value", minima_.agreeing(), minima_.descents());
  if (!agreed()) return found;
  if (minima_.exhausted() && !minima_.settled())
    return found +
           fmt::format(", and the last {} found no better one, so the search ended; with agreement = 0 it continues",
                       Minima::most_in_vain);
  return found + ", so option 'agreement' ended the search; with agreement = 0 it continues";
}

/// A share of a budget: the first descents screen at most about a twentieth of it.
std::size_t screen_of(std::uint64_t budget, std::size_t descents) {
  constexpr std::size_t most = 8, share = 20;
  return budget == 0 ? most : std::clamp<std::size_t>(budget / (share * descents), 1, most);
}

/// The number of parallel descents with which each of the first ones can probably end within the budget.
std::size_t descents_of(std::uint64_t budget, std::size_t parameters) {
  constexpr std::size_t most = 4, steps = 25;
  return budget == 0 ? most : std::clamp<std::size_t>(budget / (steps * (parameters + 1)), 1, most);
}

Settings settings_of(const Space& space, const OptimizerOptions& options, const Terms& terms) {
  const auto descents =
      options.contains("descents") ? count_of(options, "descents") : descents_of(terms.evaluations, space.size());
  const auto screen = options.contains("screen") ? count_of(options, "screen") : screen_of(terms.evaluations, descents);
  const auto loss = terms.yield.goals ? terms.yield.goals->loss : Loss{};
  std::optional<std::size_t> agreement;
  if (options.contains("agreement")) agreement = count_of(options, "agreement");
  return {agreement, descents,   screen,       count_of(options, "searches"), number_of(options, "noise"),
          loss,      terms.mode, terms.edition};
}
}  // namespace
}  // namespace lm

OptimizerKind lm_kind() {
  return {
      {.name = "lm",
       .about = "Levenberg-Marquardt from many starts: residuals that are smooth functions of real parameters",
       .needs_residuals = true,
       .needs_reals = true,
       .asynchronous = true,
       .options = {OptionRule::whole("agreement",
                                     "the study ends when this number of further searches have found the best point "
                                     "again; 0: this rule and the three rules have no effect",
                                     0, 1e6, "6, or a larger number that culmen chooses")
                       .formerly(0)
                       .that_only_ends(),
                   OptionRule::whole("descents",
                                     "number of local searches in parallel; more searches keep more workers busy", 1,
                                     1000, "4, or fewer if the limit on evaluations is small")
                       .formerly(4),
                   OptionRule::number("noise", "relative numerical error of the residuals", 1e-16, 0.01, 2.3e-16),
                   OptionRule::whole("screen", "number of points that are evaluated to choose a starting point", 1,
                                     10000, "8, or fewer if the limit on evaluations is small")
                       .formerly(8),
                   OptionRule::whole("searches",
                                     "the study ends when this number of local searches have ended. 1: culmen makes "
                                     "one fit from your starting values. 0: the study does not end for this "
                                     "reason",
                                     0, 1e6, 0)
                       .that_only_ends()},
       .edition = Edition::fifth},
      [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
        return std::make_unique<lm::LevenbergMarquardt>(space, seed, lm::settings_of(space, options, terms));
      }};
}

}  // namespace culmen
