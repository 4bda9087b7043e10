#include "culmen/optimizer/parts/differences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

namespace culmen {
namespace {
struct Term {
  double steps, weight;
};
constexpr std::array<Term, 1> forward{{{1, 1}}};
constexpr std::array<Term, 2> central{{{1, 0.5}, {-1, -0.5}}};
constexpr std::array<Term, 2> one_sided{{{1, 2}, {2, -0.5}}};
constexpr std::array<Term, 4> five_point{{{1, 2.0 / 3}, {-1, -2.0 / 3}, {2, -1.0 / 12}, {-2, 1.0 / 12}}};

constexpr double wider = 1e4, widest = 1e8;  // than usual: a step after one that changed nothing
// Shares of the derivative: the largest difference of the formulas with step h and 2h, and that of a good step.
constexpr double far_apart = 1e-4, good_apart = 1e-6;

double step_share(Accuracy accuracy, double noise) {
  switch (accuracy) {
    case Accuracy::forward:
      return std::sqrt(noise);
    case Accuracy::central:
      return std::cbrt(noise);
    case Accuracy::five_point:
      return std::pow(noise, 0.2);
  }
  return 0;
}

std::span<const Term> terms(Accuracy accuracy) {
  if (accuracy == Accuracy::forward) return forward;
  if (accuracy == Accuracy::central) return central;
  return five_point;
}
}  // namespace

Differences::Differences(Eigen::VectorXd lower, Eigen::VectorXd upper, double noise, bool widens)
    : lower_(std::move(lower)),
      upper_(std::move(upper)),
      noise_(noise),
      widens_(widens),
      downwards_(static_cast<std::size_t>(lower_.size())),
      shares_(Eigen::VectorXd::Ones(lower_.size())),
      widened_(Eigen::VectorXd::Ones(lower_.size())) {}

void Differences::plan(Eigen::Index i, double z, double size, Accuracy accuracy) {
  const double lower = lower_[i], upper = upper_[i];
  const double room = std::max(upper - z, z - lower);
  const double share = shares_[i] * (accuracy == Accuracy::forward ? widened_[i] : 1);
  double h = std::min(std::min(step_share(accuracy, noise_) * share, 1.0) * size, room / 2);
  auto formula = terms(accuracy);
  const double reach = formula.back().steps < 0 ? -formula.back().steps : 1;
  const bool fits = z + reach * h <= upper && z - reach * h >= lower;
  if (accuracy != Accuracy::forward && !fits) {
    formula = one_sided;
    h = std::min(step_share(Accuracy::central, noise_) * shares_[i] * size, room / 2);
  }
  const bool up = upper - z >= 2 * h && !(downwards_[static_cast<std::size_t>(i)] && z - lower >= 2 * h);
  const double signed_h = up || (accuracy != Accuracy::forward && fits) ? h : -h;
  for (const auto& term : formula) {
    const double offset = (z + term.steps * signed_h) - z;
    nodes_.push_back({i, offset, offset != 0 ? term.steps * term.weight / offset : 0});
  }
}

void Differences::propose(const Eigen::VectorXd& z, const Eigen::VectorXd& sizes, Accuracy accuracy,
                          std::vector<Eigen::VectorXd>& points) {
  nodes_.clear();
  for (Eigen::Index i = 0; i < z.size(); ++i) plan(i, z[i], sizes[i], accuracy);
  for (const auto& node : nodes_) {
    points.push_back(z);
    points.back()[node.parameter] += node.offset;
  }
}

Eigen::MatrixXd Differences::jacobian(const Eigen::VectorXd& residuals, const std::vector<Reply>& replies) {
  steps_fit_ = true;
  has_widened_ = false;
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(residuals.size(), lower_.size());
  for (std::size_t first = 0; first < nodes_.size();) {
    const auto i = nodes_[first].parameter;
    std::size_t end = first;
    while (end < nodes_.size() && nodes_[end].parameter == i) ++end;
    const auto failed = [&](std::size_t k) { return replies[k].residuals.size() != residuals.size(); };
    bool whole = true;
    for (std::size_t k = first; k < end; ++k) whole &= !failed(k);
    for (std::size_t k = first; k < end; ++k) {
      if (failed(k)) continue;
      const auto& node = nodes_[k];
      const double weight = whole ? node.weight : node.offset != 0 ? 1 / node.offset : 0;
      out.col(i) += weight * (replies[k].residuals - residuals);
      if (!whole) break;
    }
    if (whole && end - first == five_point.size()) {
      const auto slope = [&](std::size_t k) {
        return Eigen::VectorXd((replies[k].residuals - replies[k + 1].residuals) /
                               (nodes_[k].offset - nodes_[k + 1].offset));
      };
      compare(i, slope(first), slope(first + 2));
    }
    if (whole && widens_ && end - first == forward.size()) widen(i, (out.col(i).array() == 0).all());
    auto& downwards = downwards_[static_cast<std::size_t>(i)];
    if (failed(first)) downwards = !downwards;
    first = end;
  }
  return out;
}

/// The residuals may have few digits, and a parameter near 0 tells nothing about its size.
void Differences::widen(Eigen::Index i, bool is_zero) {
  if (!is_zero) widened_[i] = 1;
  if (!is_zero || widened_[i] >= widest) return;
  widened_[i] *= wider;
  has_widened_ = true;
}

/// The difference grows as the square of the step.
void Differences::compare(Eigen::Index i, const Eigen::VectorXd& inner, const Eigen::VectorXd& outer) {
  const double apart = (inner - outer).stableNorm() / inner.stableNorm();
  if (!(apart > far_apart)) return;
  shares_[i] *= std::clamp(std::sqrt(good_apart / apart), 1e-4, 0.5);
  steps_fit_ = false;
}

}  // namespace culmen
