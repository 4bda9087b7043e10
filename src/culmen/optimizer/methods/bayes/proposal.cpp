#include "culmen/optimizer/methods/bayes/proposal.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>

#include "culmen/optimizer/methods/bayes/improvement.hpp"

namespace culmen::bayes {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t fewest_local = 50, local_per_parameter = 10;  // points of a model
constexpr int fit_steps = 25, climb_steps = 30;
constexpr std::size_t draws = 200, climbs = 3;
const double noise_to_mention = std::log(1e-3);  // variance: 3 % of the values' deviation
constexpr double much_noise = -3;                // as a starting value: a fit that starts from little noise finds none
constexpr double same = 1e-9;                    // of two unit vectors

struct Fitted {
  ModelValues values;
  GaussianProcess process;
  std::size_t compression;
  double loss;  // minus the logarithm of the posterior density of values and hyperparameters, up to a constant
};

/// Works in coordinates where the best point is 0 and the trust region has side 1.
class Advice {
 public:
  explicit Advice(const Question& question)
      : question_(question), centre_(question.points[question.best].unit), random_(question.seed) {
    select();
    model_ = fitted(question_.compression, standard_or_from());
    compare();
    means_ = model_->process.posteriors(points_).col(0);
    least_ = (question_.noisy ? means_ : model_->values.values()).minCoeff();
    box();
  }

  Proposal proposal() {
    Proposal out{model_->process.hyperparameters(), model_->compression, {}, favourite()};
    for (const auto& unit : question_.pending) believe(unit);
    out.hyperparameters.lengths.array() += std::log(question_.side);
    while (out.units.size() < question_.wanted) {
      out.units.push_back(next());
      if (out.units.size() < question_.wanted) believe(out.units.back());
    }
    return out;
  }

  double acquisition(const double* x, double* slope) const {
    const VectorXd at = Eigen::Map<const VectorXd>(x, centre_.size());
    const auto p = model_->process.posterior(at, slope != nullptr);
    const double deviation = std::sqrt(p.variance);
    const auto i = log_improvement(least_, p.mean, deviation);
    if (slope != nullptr)
      Eigen::Map<VectorXd>(slope, centre_.size()) =
          i.by_mean * p.mean_slope + (0.5 * i.by_deviation / deviation) * p.variance_slope;
    return i.logarithm;
  }

 private:
  Hyperparameters standard_or_from() const {
    auto out = question_.from;
    if (out.lengths.size() != centre_.size()) return Hyperparameters::standard(question_.space.size());
    out.lengths.array() -= std::log(question_.side);
    return out;
  }

  std::unique_ptr<Fitted> fitted(std::size_t compression, const Hyperparameters& from) const {
    ModelValues values(chosen_, compression);
    GaussianProcess process(points_, values.values(), ordered(question_.space));
    const double loss = process.fit(from, fit_steps) + values.log_stretch();
    return std::make_unique<Fitted>(Fitted{std::move(values), std::move(process), compression, loss});
  }

  void compare() {
    if (question_.rival == model_->compression) return;
    auto noise = Hyperparameters::standard(question_.space.size());
    noise.noise = much_noise;
    auto rival = question_.rival < compressions.size() ? fitted(question_.rival, model_->process.hyperparameters())
                                                       : fitted(model_->compression, noise);
    if (rival->loss < model_->loss) model_ = std::move(rival);
  }

  VectorXd inner(const VectorXd& unit) const { return (unit - centre_) / question_.side; }

  void select() {
    const auto& all = question_.points;
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::vector<double> distance;
    for (const auto& p : all) distance.push_back((p.unit - centre_).squaredNorm());
    std::ranges::stable_sort(order, [&](auto a, auto b) { return distance[a] < distance[b]; });
    order.resize(std::min(order.size(), fewest_local + local_per_parameter * question_.space.size()));
    for (const auto k : order) chosen_.push_back(all[k]);
    points_.resize(static_cast<Index>(chosen_.size()), centre_.size());
    for (std::size_t k = 0; k < chosen_.size(); ++k)
      points_.row(static_cast<Index>(k)) = inner(chosen_[k].unit).transpose();
  }

  std::optional<Favourite> favourite() const {
    if (model_->process.hyperparameters().noise < noise_to_mention) return {};
    return favourite_of(chosen_, means_, model_->values,
                        [&](Index k) { return model_->process.posterior(points_.row(k).transpose(), false); });
  }

  /// The sides depend on the lengths; the volume does not.
  void box() {
    const auto& lengths = model_->process.hyperparameters().lengths;
    VectorXd sides = (lengths.array() - lengths.mean()).exp();
    sides = sides.cwiseMax(0.1).cwiseMin(10);
    lower_ = inner(VectorXd::Zero(centre_.size())).cwiseMax(-0.5 * sides).cwiseMin(0);
    upper_ = inner(VectorXd::Ones(centre_.size())).cwiseMin(0.5 * sides).cwiseMax(0);
  }

  void believe(const VectorXd& unit) {
    const VectorXd x = inner(unit);
    model_->process.extend(x, model_->process.posterior(x, false).mean);
  }

  bool known(const VectorXd& x) const { return contains(model_->process.points(), x, same / question_.side); }

  VectorXd settled_inner(const VectorXd& x) const {
    return inner(settled(question_.space, centre_ + question_.side * x));
  }

  /// Changes all parameters, or a few, over the box or near its middle. Unordered parameters get a new random value.
  VectorXd draw() {
    const Index n = centre_.size();
    const double share = random_.uniform() < 0.5 ? 1 : std::min(1.0, 3.0 / static_cast<double>(n));
    const double reach = std::pow(10, -2 * random_.uniform());
    const auto always = static_cast<Index>(random_.below(static_cast<std::uint64_t>(n)));
    VectorXd x = VectorXd::Zero(n);
    for (Index i = 0; i < n; ++i) {
      const double u = random_.uniform(), at = random_.uniform();
      if (i != always && u >= share) continue;
      const auto& p = question_.space[static_cast<std::size_t>(i)];
      if (!p.discrete()) x[i] = reach * (lower_[i] + at * (upper_[i] - lower_[i]));
      else if (p.kind == ParameterKind::categorical) x[i] = (at - centre_[i]) / question_.side;
      else {
        const double cell = 1 / p.cells(), half = std::max(reach * 0.5 * question_.side, 1.5 * cell);
        x[i] = (2 * at - 1) * half / question_.side;
      }
    }
    return settled_inner(x);
  }

  VectorXd next() {
    std::vector<std::pair<double, VectorXd>> found;
    MatrixXd drawn(static_cast<Index>(draws), centre_.size());
    for (Index k = 0; k < drawn.rows(); ++k) drawn.row(k) = draw().transpose();
    const auto posteriors = model_->process.posteriors(drawn);
    for (Index k = 0; k < drawn.rows(); ++k) {
      const double deviation = std::sqrt(posteriors(k, 1));
      found.emplace_back(log_improvement(least_, posteriors(k, 0), deviation).logarithm, drawn.row(k).transpose());
    }
    const auto more = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::ranges::stable_sort(found, more);
    for (std::size_t k = 0; k < climbs; ++k) found.push_back(climbed(found[k].second));
    std::ranges::stable_sort(found, more);
    for (const auto& [gain, x] : found)
      if (!known(x)) return settled(question_.space, centre_ + question_.side * x);
    return settled(question_.space, centre_ + question_.side * draw());
  }

  /// Climbs by the reals only.
  std::pair<double, VectorXd> climbed(VectorXd x) const {
    VectorXd lower = lower_.cwiseMin(x), upper = upper_.cwiseMax(x);
    for (Index i = 0; i < x.size(); ++i)
      if (question_.space[static_cast<std::size_t>(i)].discrete()) lower[i] = upper[i] = x[i];
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> search(
        nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(x.size())), nlopt_destroy);
    const auto gain_at = [](unsigned, const double* at, double* slope, void* self) {
      return static_cast<const Advice*>(self)->acquisition(at, slope);
    };
    nlopt_set_max_objective(search.get(), gain_at, const_cast<Advice*>(this));
    nlopt_set_lower_bounds(search.get(), lower.data());
    nlopt_set_upper_bounds(search.get(), upper.data());
    nlopt_set_maxeval(search.get(), climb_steps);
    double gain = 0;
    nlopt_optimize(search.get(), x.data(), &gain);
    x = settled_inner(x.cwiseMax(lower).cwiseMin(upper));
    gain = acquisition(x.data(), nullptr);
    return {std::isfinite(gain) ? gain : -std::numeric_limits<double>::infinity(), std::move(x)};
  }

  const Question& question_;
  VectorXd centre_;
  Random random_;
  MatrixXd points_;
  std::vector<Point> chosen_;
  VectorXd means_;  // of the points
  double least_ = 0;
  std::unique_ptr<Fitted> model_;
  VectorXd lower_, upper_;
};

std::vector<double> plain(const VectorXd& x) { return {x.begin(), x.end()}; }
VectorXd vector_of(const std::vector<double>& x) {
  return Eigen::Map<const VectorXd>(x.data(), static_cast<Index>(x.size()));
}
}  // namespace

Bytes Proposal::encoded() const {
  Bytes out;
  ByteWriter writer(out);
  writer.doubles(plain(hyperparameters.packed()));
  writer.u64(compression);
  writer.u64(units.size());
  for (const auto& unit : units) writer.doubles(plain(unit));
  if (!favourite) return out;
  writer.doubles(plain(favourite->unit));
  writer.f64(favourite->value);
  writer.f64(favourite->error);
  writer.u64(favourite->points);
  return out;
}

Proposal Proposal::decoded(const Bytes& bytes) {
  ByteReader reader(bytes);
  Proposal out;
  out.hyperparameters = Hyperparameters::unpacked(vector_of(reader.doubles()));
  out.compression = reader.u64();
  for (auto n = reader.u64(); n > 0; --n) out.units.push_back(vector_of(reader.doubles()));
  if (reader.left() == 0) return out;
  auto& favourite = out.favourite.emplace(vector_of(reader.doubles()));
  favourite.value = reader.f64();
  favourite.error = reader.f64();
  favourite.points = reader.u64();
  return out;
}

Proposal propose(const Question& question) { return Advice(question).proposal(); }

std::optional<Favourite> favourite_of(const std::vector<Point>& points, const VectorXd& means,
                                      const ModelValues& values, const std::function<Posterior(Index)>& expected) {
  Favourite out;
  Index best = -1;
  for (Index k = 0; k < means.size(); ++k) {
    const auto& p = points[static_cast<std::size_t>(k)];
    if (!p.ok || p.violation > 0) continue;
    ++out.points;
    if (best < 0 || means[k] < means[best]) best = k;
  }
  if (best < 0) return {};
  const auto p = expected(best);
  const double deviation = std::sqrt(p.variance);
  out.unit = points[static_cast<std::size_t>(best)].unit;
  out.value = values.objective(p.mean);
  out.error = 0.5 * (values.objective(p.mean + deviation) - values.objective(p.mean - deviation));
  return out;
}

bool contains(const MatrixXd& points, const VectorXd& unit, double near) {
  for (Index k = 0; k < points.rows(); ++k)
    if ((points.row(k).transpose() - unit).cwiseAbs().maxCoeff() <= near) return true;
  return false;
}

std::vector<Index> ascending(const VectorXd& values) {
  std::vector<Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) { return values[a] < values[b]; });
  return order;
}

VectorXd anywhere(const Space& space, Random& random) {
  VectorXd unit(static_cast<Index>(space.size()));
  for (double& u : unit) u = random.uniform();
  return settled(space, unit);
}

VectorXd settled(const Space& space, const VectorXd& unit) {
  std::vector<double> x = plain(unit);
  space.from_unit(x, x);
  space.to_unit(x, x);
  return vector_of(x);
}

VectorXd neighbour(const Space& space, const VectorXd& centre, double side, Random& random) {
  VectorXd unit = centre;
  const auto always = random.below(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (i != always && random.uniform() < 0.5) continue;
    auto& u = unit[static_cast<Index>(i)];
    const auto& p = space[i];
    if (p.kind == ParameterKind::categorical) u = random.uniform();
    else u += random.normal() * std::max(0.25 * side, p.discrete() ? 1 / p.cells() : 0.0);
  }
  return settled(space, unit.cwiseMax(0).cwiseMin(1));
}

std::vector<char> ordered(const Space& space) {
  std::vector<char> out;
  for (const auto& p : space.parameters()) out.push_back(p.kind == ParameterKind::categorical ? 0 : 1);
  return out;
}

}  // namespace culmen::bayes
