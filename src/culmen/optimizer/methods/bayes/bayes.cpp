// "bayes": Bayesian optimization for expensive evaluations, with a Gaussian process in a trust region, with a sum
// over the parameters, or with a forest; see proposal.hpp. Batches: the model's expectation stands for the values of
// pending points (kriging believer: Ginsbourger, Le Riche and Carraro, 2010).
#include "culmen/optimizer/methods/bayes/bayes.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "culmen/optimizer/core/remembering.hpp"
#include "culmen/optimizer/methods/bayes/proposal.hpp"
#include "culmen/optimizer/methods/bayes/region.hpp"
#include "culmen/optimizer/parts/sobol_sequence.hpp"

namespace culmen {
namespace bayes {
namespace {
using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t fewest_patience = 4;
constexpr std::size_t most_pending = 32;     // the newest pending points, which a model takes into account
constexpr std::uint64_t most_at_a_time = 8;  // proposals of one job without generations: as many as results came back
constexpr std::uint64_t interleaved = 8;     // with a forest, one of this many points is random
constexpr std::uint64_t always = 4;  // results up to this multiple of a model's points: each brings a model; …
constexpr std::uint64_t seldom = 4;  // … later it takes told / seldom new results

enum class Model : unsigned char { local, sum, forest };

Model model_of(const std::string& word) {
  return word == "forest" ? Model::forest : word == "additive" ? Model::sum : Model::local;
}

Proposal propose_by(Model model, const Question& question) {
  return model == Model::forest ? propose_by_forest(question)
         : model == Model::sum  ? propose_by_sum(question)
                                : propose(question);
}

/// A point that is being evaluated, and its region.
struct Open {
  VectorXd unit;
  std::size_t region;
};

/// The state of the modelling; models follow each other.
struct Modelling {
  Hyperparameters hyperparameters;  // of the last model
  std::size_t compression = 0, count = 0;
  std::uint64_t told = 0;  // results at the time of the last model
  bool wanted = false, job_is_out = false;
  std::size_t region = 0;  // of the job
};

class Bayes final : public Remembering<Open, std::map> {
 public:
  Bayes(const Space& space, std::uint64_t seed, std::size_t parallel, std::size_t points, Model model, Mode mode)
      : space_(space),
        parallel_(parallel),
        points_(points),
        model_(model),
        mode_(mode),
        random_(seed, 1),
        design_(std::min(space.size(), SobolSequence::most_dimensions), seed),
        archive_(points),
        region_(patience()) {
    begin();
  }
  Mode mode() const override { return mode_; }
  bool begins_at_start() const override { return true; }
  std::string name() const override { return "bayes"; }
  std::optional<Recommendation> recommendation() const override;
  void hear(const std::vector<double>& x, const Outcome& outcome) override {
    archive_.add(Point::of(unit_of(x), outcome));
  }

 private:
  std::size_t patience() const {
    const std::size_t failures = std::max(fewest_patience, space_.size());
    return generational() ? (failures + parallel_ - 1) / parallel_ : failures;
  }
  std::size_t design_size() const { return std::max(space_.size() + 2, parallel_); }
  VectorXd unit_of(const std::vector<double>& x) const {
    VectorXd unit(static_cast<Index>(x.size()));
    space_.to_unit(x, {unit.data(), x.size()});
    return unit;
  }

  void begin();
  VectorXd covering();
  VectorXd nearby();
  std::size_t centre() const;
  void judge_region();
  bool has_model() const { return archive_.points().size() > 1 && archive_.points()[archive_.best()].ok; }
  bool model_is_due() const;
  void learn(Point point);
  void repeat(const Favourite& favourite);
  void compare(const Point& again);
  void end_generation();

  void do_ask(std::size_t n, Asked& out) override;
  void do_tell(EvaluationId id, Open&& open, const Outcome& outcome) override;
  void do_cancel(EvaluationId id, Open&& open) override;
  std::function<Bytes()> do_job() override;
  void do_adopt(const Bytes& result) override;

  const Space space_;
  const std::size_t parallel_, points_;
  const Model model_;
  const Mode mode_;
  Random random_;
  SobolSequence design_;
  Archive archive_;
  Region region_;
  std::size_t regions_ = 0;  // their number, with the current one
  Modelling modelling_;
  std::uint64_t told_ = 0;  // results
  bool improved_ = false, covering_ = true;
  std::size_t to_cover_ = 0;                     // points of the design that are not back yet
  std::deque<VectorXd> ready_;                   // to be given; generational: in this generation
  std::map<EvaluationId, Point> back_;           // generational: results of this generation
  std::optional<Favourite> favourite_, former_;  // of this region, and the best of the previous regions
  std::optional<Point> repeated_;                // its second value will show whether there is noise
  enum class Noise : unsigned char { unknown, none, seen } noise_ = Noise::unknown;
};

/// Starts a new region; the first one begins at the space's start.
void Bayes::begin() {
  if (favourite_ && !(former_ && former_->value < favourite_->value)) former_ = favourite_;
  favourite_.reset();
  archive_.clear();
  ++regions_;  // open candidates belong to the previous one
  region_ = Region(patience());
  modelling_.hyperparameters = {};
  covering_ = true;
  to_cover_ = design_size();
  ready_.clear();
  if (regions_ == 1) {
    auto start = space_.start();
    space_.rest_inactive(start);
    ready_.push_back(unit_of(start));
  }
  while (ready_.size() < design_size()) ready_.push_back(covering());
}

VectorXd Bayes::covering() {
  std::vector<double> unit(space_.size());
  const auto most = std::min(unit.size(), SobolSequence::most_dimensions);
  design_.next({unit.data(), most});
  for (std::size_t i = most; i < unit.size(); ++i) unit[i] = random_.uniform();
  return settled(space_, Eigen::Map<const VectorXd>(unit.data(), static_cast<Index>(unit.size())));
}

VectorXd Bayes::nearby() {
  if (!has_model()) return covering();
  return neighbour(space_, archive_.points()[archive_.best()].unit, region_.side(), random_);
}

bool Bayes::model_is_due() const {
  if (!has_model() || covering_) return false;
  const auto pause = told_ > always * points_ ? told_ / seldom : 1;
  return told_ >= modelling_.told + pause;
}

void Bayes::do_ask(std::size_t n, Asked& out) {
  for (; n > 0 && (!ready_.empty() || !generational()); --n) {
    if (ready_.empty()) ready_.push_back(nearby());
    std::vector<double> x(space_.size());
    space_.from_unit({ready_.front().data(), x.size()}, x);
    out.give(std::move(x), {std::move(ready_.front()), regions_});
    ready_.pop_front();
  }
}

void Bayes::do_tell(EvaluationId id, Open&& open, const Outcome& outcome) {
  auto point = Point::of(std::move(open.unit), outcome);
  if (generational()) {
    back_.emplace(id, std::move(point));
    return end_generation();
  }
  if (open.region != regions_) return;
  learn(std::move(point));
  if (covering_ && --to_cover_ == 0) covering_ = false;
  else if (!covering_) judge_region();
  if (region_.spent() && model_ == Model::local) begin();
  modelling_.wanted = model_is_due();
}

void Bayes::do_cancel(EvaluationId, Open&& open) {
  if (generational()) return end_generation();
  if (open.region == regions_ && covering_ && --to_cover_ == 0) covering_ = false;
}

std::optional<Recommendation> Bayes::recommendation() const {
  const auto& best = favourite_ && !(former_ && former_->value < favourite_->value) ? favourite_ : former_;
  if (noise_ != Noise::seen || !best || best->points < 2) return {};
  Recommendation out{std::vector<double>(space_.size()), best->value, best->error, best->points};
  space_.from_unit({best->unit.data(), space_.size()}, out.x);
  return out;
}

/// Is it noise, or a rugged function? If a model cannot tell, the first such model has one point evaluated again.
void Bayes::repeat(const Favourite& favourite) {
  if (noise_ != Noise::unknown || repeated_) return;
  const auto& all = archive_.points();
  const auto at = std::ranges::find(all, favourite.unit, &Point::unit);
  if (at == all.end()) return;
  repeated_ = *at;
  ready_.front() = favourite.unit;
}

/// Under noise a lucky value is not a better place, and failures mean nothing. The region then keeps its size, around
/// the favourite.
void Bayes::judge_region() {
  if (noise_ != Noise::seen) region_.note(improved_);
  improved_ = false;
}

std::size_t Bayes::centre() const {
  if (noise_ != Noise::seen || !favourite_) return archive_.best();
  const auto& all = archive_.points();
  const auto at = std::ranges::find(all, favourite_->unit, &Point::unit);
  return at == all.end() ? archive_.best() : static_cast<std::size_t>(at - all.begin());
}

void Bayes::compare(const Point& again) {
  if (noise_ != Noise::unknown || !repeated_ || again.unit != repeated_->unit || !again.ok) return;
  noise_ = again.value != repeated_->value ? Noise::seen : Noise::none;
  region_ = Region(patience());
}

void Bayes::learn(Point point) {
  ++told_;
  compare(point);
  improved_ |= archive_.points().empty() || point.better_than(archive_.points()[archive_.best()]);
  archive_.add(std::move(point));
}

/// When all results of a generation are back.
void Bayes::end_generation() {
  if (!ready_.empty() || !memos().empty()) return;
  for (auto& [id, point] : std::exchange(back_, {})) learn(std::move(point));
  if (!covering_) judge_region();
  covering_ = improved_ = false;
  if (region_.spent() && model_ == Model::local) return begin();
  modelling_.wanted = model_is_due();
  while (!modelling_.wanted && ready_.size() < parallel_) ready_.push_back(nearby());
}

std::function<Bytes()> Bayes::do_job() {
  if (!modelling_.wanted || modelling_.job_is_out) return {};
  const auto came = std::clamp<std::uint64_t>(told_ - modelling_.told, 1, most_at_a_time);
  modelling_.wanted = false;
  modelling_.job_is_out = true;
  modelling_.region = regions_;
  modelling_.told = told_;
  Question question{.space = space_,
                    .points = archive_.points(),
                    .best = centre(),
                    .pending = {},
                    .side = region_.side(),
                    .from = modelling_.hyperparameters,
                    .compression = modelling_.compression,
                    .rival = modelling_.count++ % rivals,
                    .seed = random_.next(),
                    .wanted = generational() ? parallel_ : static_cast<std::size_t>(came),
                    .noisy = noise_ == Noise::seen};
  for (auto k = memos().rbegin(); k != memos().rend() && question.pending.size() < most_pending; ++k)
    question.pending.push_back(k->second.unit);
  return [question = std::move(question), model = model_] { return propose_by(model, question).encoded(); };
}

void Bayes::do_adopt(const Bytes& result) {
  modelling_.job_is_out = false;
  if (covering_ || modelling_.region != regions_) return;
  auto proposal = Proposal::decoded(result);
  modelling_.hyperparameters = std::move(proposal.hyperparameters);
  modelling_.compression = proposal.compression;
  ready_.assign(proposal.units.begin(), proposal.units.end());
  if (proposal.favourite) {
    favourite_ = std::move(proposal.favourite);
    repeat(*favourite_);
  }
  if (model_ != Model::forest) return;
  for (auto& unit : ready_)
    if (random_.below(interleaved) == 0) unit = covering();
}
}  // namespace
}  // namespace bayes

OptimizerKind bayes_kind() {
  return {{.name = "bayes",
           .about = "few, expensive evaluations: a Gaussian process in a trust region, or a random forest",
           .asynchronous = true,
           .options =
               {OptionRule::word(
                    "model",
                    "gauss: a Gaussian process near the best point; additive: a Gaussian process over the whole space, "
                    "for parameters that act nearly independently; forest: a random forest over the whole space",
                    {"additive", "forest", "gauss"}, "gauss"),
                OptionRule::whole("parallel",
                                  "number of candidates proposed at a time; set it to the number of workers", 1, 64, 1),
                OptionRule::whole("points", "number of evaluations that are kept for the model", 10, 2000, 500)}},
          [](const Space& space, std::uint64_t seed, const OptimizerOptions& options, const Terms& terms) {
            const auto model = bayes::model_of(word_of(options, "model"));
            return std::make_unique<bayes::Bayes>(space, seed, count_of(options, "parallel"),
                                                  count_of(options, "points"), model, terms.mode);
          }};
}

}  // namespace culmen
