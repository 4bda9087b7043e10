// Proposals by a Gaussian process over the whole space, whose covariance is a sum: of one part for each parameter, and
// of one for all together (additive processes: Duvenaud, Nickisch and Rasmussen, NIPS 2011). Most settings of programs
// act nearly independently, so few evaluations of each value tell its effect. The next point is the best one of a
// function drawn from the process (Thompson sampling: Thompson, Biometrika 25 (1933)), which repeats good points under
// noise.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "culmen/optimizer/methods/bayes/proposal.hpp"

namespace culmen::bayes {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t most_points = 300;  // of a model; the newest
constexpr std::size_t random_draws = 300, tops = 10, changes = 20;
constexpr double redrawn = 0.25,
                 moved = 0.1;                      // share of parameters that a change draws again; deviation of a move
constexpr double choices_alike = 0.4;              // correlation of unequal choices in the part for all parameters
constexpr std::array part_lengths{0.2, 0.4, 0.8};  // of a parameter's part, in the unit cube
constexpr std::array shares{0.1, 0.3, 1.0};        // variance of the part for all parameters, of that for one
constexpr std::array noises{1e-6, 1e-4, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0};  // variance of noise, of that for one
constexpr double pivot_room = 1e-8;     // of a covariance, so that it has a factor
constexpr double noise_to_tell = 1e-4;  // variance of noise, of that of all values
constexpr double same_place = 1e-9;

/// The correlations, up to a factor.
struct Parts {
  double length = 0, share = 0;

  MatrixXd between(const MatrixXd& a, const MatrixXd& b, const std::vector<char>& has_order) const {
    MatrixXd sum = MatrixXd::Ones(a.rows(), b.rows()), all = MatrixXd::Constant(a.rows(), b.rows(), share);
    for (Index i = 0; i < a.cols(); ++i) {
      const bool number = has_order[static_cast<std::size_t>(i)] != 0;
      for (Index k = 0; k < b.rows(); ++k) {
        const auto d = (a.col(i).array() - b(k, i)) / length;
        const Eigen::ArrayXd near =
            number ? Eigen::ArrayXd((-0.5 * d.square()).exp()) : Eigen::ArrayXd((d.abs() < same_place).cast<double>());
        sum.col(k).array() += near;
        all.col(k).array() *= number ? near : Eigen::ArrayXd(near.max(choices_alike));
      }
    }
    return sum + all;
  }
};

class SumAdvice {
 public:
  explicit SumAdvice(const Question& question)
      : question_(question), random_(question.seed), has_order_(ordered(question.space)) {
    const auto& all = question.points;
    chosen_.assign(all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), most_points)), all.end());
    points_.resize(static_cast<Index>(chosen_.size()), all.front().unit.size());
    for (std::size_t k = 0; k < chosen_.size(); ++k) points_.row(static_cast<Index>(k)) = chosen_[k].unit.transpose();
    fit();
  }

  Proposal proposal() {
    Proposal out;
    out.hyperparameters = question_.from;
    out.favourite = favourite();
    for (std::size_t k = 0; k < question_.wanted; ++k) out.units.push_back(next());
    return out;
  }

 private:
  /// Finds the parts, the noise and the compression of values of greatest marginal likelihood.
  void fit() {
    double least = std::numeric_limits<double>::infinity();
    std::vector<ModelValues> rivals;
    for (std::size_t c = 0; c < compressions.size(); ++c) rivals.emplace_back(chosen_, c);
    for (const double length : part_lengths) {
      for (const double share : shares) {
        const Parts parts{length, share};
        const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(parts.between(points_, points_, has_order_));
        const VectorXd scales = solver.eigenvalues().cwiseMax(0);
        for (const auto& rival : rivals) {
          const VectorXd turned = solver.eigenvectors().transpose() * rival.values();
          for (const double noise : noises) {
            const Eigen::ArrayXd variances = scales.array() + noise;
            const double variance =
                std::max((turned.array().square() / variances).mean(), std::numeric_limits<double>::min());
            const double loss = 0.5 * static_cast<double>(points_.rows()) * std::log(variance) +
                                0.5 * variances.log().sum() + rival.log_stretch();
            if (!(loss < least)) continue;
            least = loss;
            parts_ = parts;
            noise_ = noise;
            variance_ = variance;
            values_ = rival;
          }
        }
      }
    }
    covariance_ = parts_.between(points_, points_, has_order_);
    MatrixXd with_noise = covariance_;
    with_noise.diagonal().array() += noise_ + pivot_room;
    factor_.compute(with_noise);
    weights_ = factor_.solve(values_->values());
    means_ = covariance_ * weights_;
  }

  std::optional<Favourite> favourite() const {
    if (variance_ * noise_ < noise_to_tell) return {};
    return favourite_of(chosen_, means_, *values_, [&](Index k) {
      const VectorXd near = covariance_.col(k);
      const double left = near[k] - near.dot(factor_.solve(near));
      return Posterior{means_[k], variance_ * std::max(left, 0.0), {}, {}};
    });
  }

  /// A random point, or one near a point that the model expects to be good.
  MatrixXd candidates() {
    auto order = ascending(means_);
    order.resize(std::min(order.size(), tops));
    MatrixXd out(static_cast<Index>(random_draws + order.size() * (changes + 1)), points_.cols());
    Index row = 0;
    for (std::size_t k = 0; k < random_draws; ++k) out.row(row++) = anywhere(question_.space, random_).transpose();
    for (const Index top : order) {
      out.row(row++) = points_.row(top);
      for (std::size_t k = 0; k < changes; ++k) out.row(row++) = changed(points_.row(top).transpose()).transpose();
    }
    return out;
  }

  VectorXd changed(VectorXd unit) {
    const auto always = static_cast<Index>(random_.below(static_cast<std::uint64_t>(unit.size())));
    for (Index i = 0; i < unit.size(); ++i) {
      const double u = random_.uniform(), at = random_.uniform(), by = random_.normal();
      if (i != always && u >= redrawn) continue;
      const auto& p = question_.space[static_cast<std::size_t>(i)];
      const bool anew = p.kind == ParameterKind::categorical || by < 0;
      const double step = std::max(moved, p.discrete() ? 1 / p.cells() : 0.0);
      unit[i] = anew ? at : unit[i] + step * (2 * at - 1);
    }
    return settled(question_.space, unit.cwiseMax(0).cwiseMin(1));
  }

  VectorXd next() {
    const MatrixXd at = candidates();
    const MatrixXd near = parts_.between(points_, at, has_order_);
    MatrixXd covariance = parts_.between(at, at, has_order_) - near.transpose() * factor_.solve(near);
    covariance.diagonal().array() += pivot_room * static_cast<double>(points_.cols() + 2);
    VectorXd normal(at.rows());
    for (double& z : normal) z = random_.normal();
    const Eigen::LDLT<MatrixXd> root(covariance);  // rounding may leave small negative pivots
    const VectorXd pivots = root.vectorD().cwiseMax(0).cwiseSqrt();
    VectorXd sample = root.matrixL() * VectorXd(pivots.cwiseProduct(normal));
    sample = root.transpositionsP().transpose() * sample;
    sample = near.transpose() * weights_ + std::sqrt(variance_) * sample;
    for (const Index k : ascending(sample))
      if (question_.noisy || !contains(points_, at.row(k).transpose(), same_place)) return at.row(k).transpose();
    return anywhere(question_.space, random_);
  }

  const Question& question_;
  Random random_;
  const std::vector<char> has_order_;
  std::vector<Point> chosen_;
  MatrixXd points_, covariance_;  // covariance_: of the points, without noise
  std::optional<ModelValues> values_;
  Parts parts_;
  double noise_ = 0, variance_ = 1;
  Eigen::LLT<MatrixXd> factor_;
  VectorXd weights_, means_;
};
}  // namespace

Proposal propose_by_sum(const Question& question) { return SumAdvice(question).proposal(); }

}  // namespace culmen::bayes
