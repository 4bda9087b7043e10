#include "culmen/study/run/fit_errors.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "culmen/base/error.hpp"
#include "culmen/optimizer/parts/differences.hpp"
#include "culmen/space/scaling.hpp"
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/run/further.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/study/source/points_source.hpp"

namespace culmen {
namespace {
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double null_share = 1e-9;  // singular values below this share of the greatest are rounding errors
constexpr double touched = 1e-3;     // a parameter with at least this share in undetermined directions has no error
constexpr double least_size = 1e-3;  // of the range: a parameter near 0 changes the residuals by such steps
constexpr double on_wall = 1e-9;     // of the range, and of the bound

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The free parameters, each in its own scale.
struct Frame {
  const Space& space;
  std::vector<double> x;
  std::vector<std::size_t> free = {};
  VectorXd start = {}, lower = {}, upper = {}, width = {};

  bool is_log(std::size_t i) const { return space[i].scale == Scale::log; }
  double to_u(std::size_t i, double value) const { return is_log(i) ? std::log(value) : value; }
  std::vector<double> vector(const VectorXd& u) const {
    auto out = x;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const auto i = free[k];
      const double value = u[static_cast<Eigen::Index>(k)];
      out[i] = std::clamp(is_log(i) ? std::exp(value) : value, space[i].lower, space[i].upper);
    }
    return out;
  }
  /// dx/du at the start.
  double slope(std::size_t k) const { return is_log(free[k]) ? x[free[k]] : 1; }
};

/// Bounds may be very wide: the size of a bound counts too.
bool at_wall(const Parameter& p, double value) {
  const double near = on_wall * width_of(p);
  const auto is_at = [&](double wall) {
    if (!std::isfinite(wall)) return false;
    const double own = on_wall * std::abs(wall);
    return std::abs(value - wall) <= (own > 0 ? std::min(near, own) : near);
  };
  return is_at(p.lower) || is_at(p.upper);
}

Frame frame_of(const Space& space, const std::vector<double>& x) {
  Frame frame{space, x};
  auto masked = x;
  space.put_inactive(masked, nan);
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (space[i].kind == ParameterKind::real && !std::isnan(masked[i]) && !at_wall(space[i], x[i]))
      frame.free.push_back(i);
  }
  const auto n = static_cast<Eigen::Index>(frame.free.size());
  frame.start = frame.lower = frame.upper = frame.width = VectorXd(n);
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto i = frame.free[static_cast<std::size_t>(k)];
    frame.start[k] = frame.to_u(i, x[i]);
    frame.lower[k] = frame.to_u(i, space[i].lower);
    frame.upper[k] = frame.to_u(i, space[i].upper);
    frame.width[k] = has_bounds(space[i]) ? frame.upper[k] - frame.lower[k] : width_of(space[i]);
  }
  return frame;
}

/// Of other directions than those that the data do not determine. Rows and columns of undetermined parameters are NaN.
MatrixXd inverse(const VectorXd& sizes, const VectorXd& weights, const MatrixXd& directions, const VectorXd& length) {
  const double least = null_share * sizes.cwiseAbs().maxCoeff();
  MatrixXd out = MatrixXd::Zero(length.size(), length.size());
  VectorXd lost = VectorXd::Zero(length.size());
  for (Eigen::Index k = 0; k < length.size(); ++k) {
    const VectorXd direction = directions.col(k);
    if (sizes[k] > least) out += direction * direction.transpose() / weights[k];
    else lost += direction.cwiseAbs2();
  }
  out = length.cwiseInverse().asDiagonal() * out * length.cwiseInverse().asDiagonal();
  for (Eigen::Index k = 0; k < length.size(); ++k) {
    if (lost[k] > touched) out.row(k).setConstant(nan), out.col(k).setConstant(nan);
  }
  return out;
}

VectorXd lengths(const VectorXd& squares) {
  return squares.unaryExpr([](double square) { return square != 0 ? std::sqrt(std::abs(square)) : 1; });
}

MatrixXd covariance_of(const MatrixXd& jacobian, const std::vector<double>& residuals, const Loss& loss) {
  if (loss.linear()) {
    const VectorXd length = lengths(jacobian.colwise().squaredNorm().transpose());
    const MatrixXd scaled = jacobian * length.cwiseInverse().asDiagonal();
    const Eigen::JacobiSVD<MatrixXd> svd(scaled, Eigen::ComputeFullV);
    VectorXd sizes = VectorXd::Zero(length.size());
    sizes.head(svd.singularValues().size()) = svd.singularValues();
    return inverse(sizes, sizes.cwiseAbs2(), svd.matrixV(), length);
  }
  VectorXd curvatures(jacobian.rows());
  for (Eigen::Index k = 0; k < curvatures.size(); ++k)
    curvatures[k] = loss.weight(residuals[static_cast<std::size_t>(k)]).curvature;
  const MatrixXd half_hessian = jacobian.transpose() * curvatures.asDiagonal() * jacobian;
  const VectorXd length = lengths(half_hessian.diagonal());
  const MatrixXd scaled = length.cwiseInverse().asDiagonal() * half_hessian * length.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(scaled);
  return inverse(solver.eigenvalues(), solver.eigenvalues(), solver.eigenvectors(), length);
}

/// In the order of the points. Without residuals where it failed.
std::vector<Reply> replies_at(const std::vector<VectorXd>& points, const Frame& frame, Run& run, PointsSource& source) {
  std::vector<std::vector<double>> vectors;
  for (const auto& u : points) vectors.push_back(frame.vector(u));
  source.push(std::move(vectors));
  source.close();
  run.prepare();
  run.execute();
  std::vector<Reply> replies(points.size());
  source.end();
  for (auto& one : source.take(0)) {
    const auto& r = one.outcome.residuals;
    if (one.outcome.ok()) replies.at(one.number) = {Eigen::Map<const VectorXd>(r.data(), std::ssize(r)), 0};
  }
  return replies;
}

FitErrors in_space(const MatrixXd& covariance, const Frame& frame) {
  const auto n = frame.space.all().size();
  const auto place = [&](std::size_t k) { return frame.space.place(frame.free[k]); };
  FitErrors out{std::vector(n, std::vector<double>(n, nan))};
  for (std::size_t a = 0; a < frame.free.size(); ++a) {
    for (std::size_t b = 0; b < frame.free.size(); ++b)
      out.covariance[place(a)][place(b)] =
          covariance(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) * frame.slope(a) * frame.slope(b);
  }
  return out;
}

Differences differences_in(const Frame& frame) {
  return {frame.lower, frame.upper, std::numeric_limits<double>::epsilon()};
}

std::vector<VectorXd> points_of(Differences& differences, const Frame& frame) {
  std::vector<VectorXd> points;
  const VectorXd sizes = frame.start.cwiseAbs().cwiseMax(least_size * frame.width);
  differences.propose(frame.start, sizes, Accuracy::central, points);
  return points;
}

FitErrors computed(const StudyConfig& config, const RunOptions& options, const Function& function,
                   const StudyResult& result) {
  const auto frame = frame_of(config.space, result.best.x);
  auto differences = differences_in(frame);
  const auto points = points_of(differences, frame);
  const auto source = std::make_shared<PointsSource>();
  Run run(further_config(config), further_options(options), source, function);
  const auto replies = replies_at(points, frame, run, *source);
  const auto& r = result.best_outcome.residuals;
  const auto jacobian = differences.jacobian(Eigen::Map<const VectorXd>(r.data(), std::ssize(r)), replies);
  auto out = in_space(covariance_of(jacobian, r, config.goals.loss), frame);
  run.conclude(to_note(out));
  return out;
}
}  // namespace

bool has_errors(const Space& space, const StudyResult& r) {
  const bool ended = r.reason != StopReason::interrupted && r.reason != StopReason::failure &&
                     r.reason != StopReason::all_failed && r.reason != StopReason::set_up &&
                     r.reason != StopReason::error;
  return ended && r.has_best && !r.best_outcome.residuals.empty() && !(r.best_outcome.violation > 0) &&
         !frame_of(space, r.best.x).free.empty();
}

std::string constraint_at_best(const Space& space, const StudyResult& result) {
  const auto frame = frame_of(space, result.best.x);
  auto differences = differences_in(frame);
  const auto points = points_of(differences, frame);
  for (const auto& constraint : space.constraints()) {
    const Space alone(space.all(), {constraint});
    if (std::ranges::all_of(points, [&](const VectorXd& u) { return alone.feasible(frame.vector(u)); })) continue;
    return fmt::format(
        "the best parameters are at constraint '{}', where least_squares() computes no errors; "
        "culmen.minimize() in Python and `culmen run` compute them",
        constraint.name);
  }
  return {};
}

FitErrors errors_of_fit(const StudyConfig& config, const RunOptions& options, const Function& function,
                        const StudyResult& result) noexcept {
  try {
    return computed(config, options, function, result);
  } catch (const std::exception&) {  // the result of the fit must not be lost
    return {};
  }
}

FitErrors errors_from_master(const OwnEvaluators& own) noexcept {
  try {
    return from_note(serve_as_rank(own).message);
  } catch (const std::exception&) {
    return {};
  }
}

std::string to_note(const FitErrors& errors) {
  std::string out;
  for (const auto& row : errors.covariance) {
    for (const double v : row) out += fmt::format("{:.17g} ", v);
    out += '\n';
  }
  return out.empty() ? " " : out;
}

FitErrors from_note(std::string_view note) {
  FitErrors out;
  const char *at = note.data(), *const end = at + note.size();
  for (std::vector<double> row; at < end; ++at) {
    if (*at == '\n') out.covariance.push_back(std::exchange(row, {}));
    double value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error == std::errc()) row.push_back(value), at = after;
  }
  return out;
}

}  // namespace culmen
