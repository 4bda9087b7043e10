#include "culmen/optimizer/bayes/proposal.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "culmen/optimizer/bayes/improvement.hpp"

namespace culmen::bayes {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t fewest_local = 50, local_per_parameter = 10;  // points of a model
constexpr int fit_steps = 25, climb_steps = 30;
constexpr std::size_t draws = 200, climbs = 3;
constexpr double same = 1e-9;  // of two unit vectors

/// In coordinates where the best point is 0 and the trust region has side 1.
class Advice {
 public:
  explicit Advice(const Question& question)
      : question_(question), centre_(question.points[question.best].unit), random_(question.seed) {
    select();
    const auto own = standard_or_from();
    process().fit(own, fit_steps);
    hyperparameters_ = process_->hyperparameters();
    box();
  }

  Proposal proposal() {
    believe(question_.pending);
    Proposal out{hyperparameters_, {}};
    while (out.units.size() < question_.wanted) {
      out.units.push_back(next());
      if (out.units.size() < question_.wanted) believe({out.units.back()});
    }
    return out;
  }

  double acquisition(const double* x, double* slope) const {
    const VectorXd at = Eigen::Map<const VectorXd>(x, centre_.size());
    const auto p = process_->posterior(at, slope != nullptr);
    const double deviation = std::sqrt(p.variance);
    const auto i = log_improvement(least_, p.mean, deviation);
    if (slope != nullptr)
      Eigen::Map<VectorXd>(slope, centre_.size()) =
          i.by_mean * p.mean_slope + (0.5 * i.by_deviation / deviation) * p.variance_slope;
    return i.logarithm;
  }

 private:
  Hyperparameters standard_or_from() const {
    if (question_.from.lengths.size() == centre_.size()) return question_.from;
    return Hyperparameters::standard(question_.space.size());
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
    std::vector<Point> chosen;
    for (const auto k : order) chosen.push_back(all[k]);
    points_.resize(static_cast<Index>(chosen.size()), centre_.size());
    for (std::size_t k = 0; k < chosen.size(); ++k)
      points_.row(static_cast<Index>(k)) = inner(chosen[k].unit).transpose();
    values_ = model_values(chosen);
    const double mean = values_.mean();
    const double deviation = std::sqrt((values_.array() - mean).square().mean());
    values_ = (values_.array() - mean) / (deviation > 0 ? deviation : 1);
    least_ = values_.minCoeff();
  }

  GaussianProcess& process() {
    process_ = std::make_unique<GaussianProcess>(points_, values_, ordered(question_.space));
    return *process_;
  }

  /// Its sides follow the lengths; its volume does not.
  void box() {
    VectorXd sides = (hyperparameters_.lengths.array() - hyperparameters_.lengths.mean()).exp();
    sides = sides.cwiseMax(0.1).cwiseMin(10);
    lower_ = inner(VectorXd::Zero(centre_.size())).cwiseMax(-0.5 * sides).cwiseMin(0);
    upper_ = inner(VectorXd::Ones(centre_.size())).cwiseMin(0.5 * sides).cwiseMax(0);
  }

  void believe(const std::vector<VectorXd>& units) {
    if (units.empty()) return;
    const Index before = points_.rows(), after = before + static_cast<Index>(units.size());
    points_.conservativeResize(after, Eigen::NoChange);
    values_.conservativeResize(after);
    for (Index k = before; k < after; ++k) {
      const VectorXd x = inner(units[static_cast<std::size_t>(k - before)]);
      points_.row(k) = x.transpose();
      values_[k] = process_->posterior(x, false).mean;
    }
    process().set(hyperparameters_);
  }

  bool known(const VectorXd& x) const {
    const double least = same / question_.side;
    for (Index k = 0; k < points_.rows(); ++k)
      if ((points_.row(k).transpose() - x).cwiseAbs().maxCoeff() <= least) return true;
    return false;
  }

  VectorXd settled_inner(const VectorXd& x) const {
    return inner(settled(question_.space, centre_ + question_.side * x));
  }

  /// All parameters, or few, change; over the box or near its middle; what has no order is drawn anew.
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
    for (std::size_t k = 0; k < draws; ++k) {
      VectorXd x = draw();
      const double gain = acquisition(x.data(), nullptr);
      found.emplace_back(gain, std::move(x));
    }
    const auto more = [](const auto& a, const auto& b) { return a.first > b.first; };
    std::ranges::stable_sort(found, more);
    for (std::size_t k = 0; k < climbs; ++k) found.push_back(climbed(found[k].second));
    std::ranges::stable_sort(found, more);
    for (const auto& [gain, x] : found)
      if (!known(x)) return settled(question_.space, centre_ + question_.side * x);
    return settled(question_.space, centre_ + question_.side * draw());
  }

  /// By the reals alone.
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
  VectorXd values_;
  double least_ = 0;
  std::unique_ptr<GaussianProcess> process_;
  Hyperparameters hyperparameters_;
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
  writer.u64(units.size());
  for (const auto& unit : units) writer.doubles(plain(unit));
  return out;
}

Proposal Proposal::decoded(const Bytes& bytes) {
  ByteReader reader(bytes);
  Proposal out{Hyperparameters::unpacked(vector_of(reader.doubles())), {}};
  for (auto n = reader.u64(); n > 0; --n) out.units.push_back(vector_of(reader.doubles()));
  return out;
}

Proposal propose(const Question& question) { return Advice(question).proposal(); }

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
