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
#include "culmen/study/run/covariance.hpp"
#include "culmen/study/run/further.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/study/source/points_source.hpp"

namespace culmen {
namespace {
constexpr double missing = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
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
  space.put_inactive(masked, missing);
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

/// The residuals at a point, or why there are none.
struct Found {
  VectorXd residuals;
  std::string failure;
};

Found found_of(const Outcome& outcome, std::size_t count) {
  const auto& r = outcome.residuals;
  if (!outcome.ok()) {
    const auto line = outcome.message.substr(0, outcome.message.find('\n'));
    return {{}, line.empty() ? std::string(to_string(outcome.status)) : line};
  }
  if (r.size() != count)
    return {{}, fmt::format("there are {} residuals there, but {} at the best candidate", r.size(), count)};
  return {Eigen::Map<const VectorXd>(r.data(), std::ssize(r)), {}};
}

/// In the order of the points.
std::vector<Found> found_at(const std::vector<VectorXd>& points, const Frame& frame, std::size_t count, Run& run,
                            PointsSource& source) {
  std::vector<std::vector<double>> vectors;
  for (const auto& u : points) vectors.push_back(frame.vector(u));
  source.push(std::move(vectors));
  source.close();
  run.prepare();
  run.execute();
  std::vector<Found> out(points.size(), {{}, run.message()});  // it may end before all are evaluated
  source.end();
  for (auto& one : source.take(0)) out.at(one.number) = found_of(one.outcome, count);
  return out;
}

/// By parameter of the frame. `failures`: why there is no derivative, empty if there is one.
struct Slopes {
  MatrixXd jacobian;
  VectorXd roughness;
  std::vector<std::string> failures;
};

/// From the two points of each parameter, or from one of them if the other fails.
Slopes slopes_of(const std::vector<VectorXd>& points, const std::vector<Found>& found, const VectorXd& middle,
                 const Frame& frame) {
  const auto n = frame.start.size();
  Slopes out{MatrixXd::Zero(middle.size(), n), VectorXd::Constant(n, infinity),
             std::vector<std::string>(frame.free.size())};
  for (Eigen::Index k = 0; k < n; ++k) {
    const auto first = 2 * static_cast<std::size_t>(k), second = first + 1;
    const auto offset = [&](std::size_t at) { return points[at][k] - frame.start[k]; };
    const auto rise = [&](std::size_t at) -> VectorXd { return (found[at].residuals - middle) / offset(at); };
    const auto usable = [&](std::size_t at) { return found[at].failure.empty() && offset(at) != 0; };
    const bool one = usable(first), other = usable(second);
    if (one && other) {
      const double a = offset(first), b = offset(second);
      const VectorXd slope = (rise(first) * b - rise(second) * a) / (b - a),
                     curve = (rise(first) - rise(second)) / (a - b);
      out.jacobian.col(k) = slope;
      if (const double size = slope.stableNorm(); size > 0) out.roughness[k] = curve.stableNorm() * std::abs(a) / size;
    } else if (one || other) {
      out.jacobian.col(k) = rise(one ? first : second);
    } else {
      const auto& why = found[first].failure;
      out.failures[static_cast<std::size_t>(k)] = why.empty() ? "no point next to it is allowed" : why;
    }
  }
  return out;
}

/// Of those of its parameters that `kept` names.
Frame part_of(const Frame& frame, const std::vector<Eigen::Index>& kept) {
  Frame out{frame.space, frame.x};
  for (const auto k : kept) out.free.push_back(frame.free[static_cast<std::size_t>(k)]);
  out.start = frame.start(kept), out.lower = frame.lower(kept), out.upper = frame.upper(kept);
  out.width = frame.width(kept);
  return out;
}

/// A matrix over the parameters of the frame, over those of the space and in their unit.
std::vector<std::vector<double>> in_space(const MatrixXd& matrix, const Frame& frame) {
  const auto n = frame.space.all().size();
  const auto place = [&](std::size_t k) { return frame.space.place(frame.free[k]); };
  std::vector out(n, std::vector<double>(n, missing));
  for (std::size_t a = 0; a < frame.free.size(); ++a) {
    for (std::size_t b = 0; b < frame.free.size(); ++b)
      out[place(a)][place(b)] =
          matrix(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) * frame.slope(a) * frame.slope(b);
  }
  return out;
}

/// Each part of the sentence is about one parameter.
std::string sentence(const Frame& frame, const std::vector<std::string>& reasons) {
  std::string out;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    if (reasons[k].empty()) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", frame.space[frame.free[k]].name, reasons[k]);
  }
  return out;
}

/// By parameter: the bound that alone stops it, as in culmen.errors.
std::vector<Bound> bounds_at(const Frame& frame, const MatrixXd& jacobian, const VectorXd& residuals,
                             const Loss& loss) {
  const auto each = [&](double Loss::Weight::*part) -> VectorXd {
    return residuals.unaryExpr([&](double r) { return loss.weight(r).*part; });
  };
  const VectorXd gradient = 2 * jacobian.transpose() * each(&Loss::Weight::slope).cwiseProduct(residuals);
  const VectorXd curved = jacobian.cwiseAbs2().transpose() * each(&Loss::Weight::curvature);
  VectorXd sizes = 0.1 * frame.width;
  for (Eigen::Index k = 0; k < sizes.size(); ++k)
    if (curved[k] > 0) sizes[k] = 1 / std::sqrt(curved[k]);
  return stopping_bounds({frame.start, frame.lower, frame.upper, frame.width}, gradient, sizes, 1);
}

FitErrors errors_of(const Frame& whole, const Slopes& slopes, const VectorXd& residuals, const Loss& loss) {
  const auto& reasons = slopes.failures;
  const auto bounds = bounds_at(whole, slopes.jacobian, residuals, loss);
  std::vector<Eigen::Index> kept;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    if (reasons[k].empty() && bounds[k] == Bound::none) kept.push_back(static_cast<Eigen::Index>(k));
  }
  const auto failed = sentence(whole, reasons);
  if (kept.empty() && !failed.empty()) return {{}, {}, "no derivative could be computed: " + failed};
  if (kept.empty()) return {{}, {}, "every parameter is at a bound"};
  const auto frame = part_of(whole, kept);
  const MatrixXd jacobian = slopes.jacobian(Eigen::all, kept);
  const VectorXd roughness = slopes.roughness(kept);
  const auto covariance =
      covariance_of_residuals(jacobian, residuals, loss, roughness, MatrixXd(0, frame.start.size()));
  FitErrors out{in_space(covariance.matrix, frame)};
  if (!loss.linear()) out.sandwich = in_space(sandwich(covariance, jacobian, residuals, loss), frame);
  if (!failed.empty()) out.message = "parameters without a derivative are held fixed and have no error: " + failed;
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
  const auto& r = result.best_outcome.residuals;
  const VectorXd middle = Eigen::Map<const VectorXd>(r.data(), std::ssize(r));
  const auto found = found_at(points, frame, r.size(), run, *source);
  const auto out = errors_of(frame, slopes_of(points, found, middle, frame), middle, config.goals.loss);
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
  } catch (const std::exception& e) {  // the result of the fit must not be lost
    return {{}, {}, e.what()};
  }
}

FitErrors errors_from_master(const OwnEvaluators& own) noexcept {
  try {
    return from_note(serve_as_rank(own).message);
  } catch (const std::exception& e) {
    return {{}, {}, e.what()};
  }
}

std::string to_note(const FitErrors& errors) {
  auto out = errors.message;
  std::ranges::replace(out, '\n', ' ');
  out += '\n';
  for (const auto* matrix : {&errors.covariance, &errors.sandwich}) {
    for (const auto& row : *matrix) {
      for (const double v : row) out += fmt::format("{:.17g} ", v);
      out += '\n';
    }
  }
  return out;
}

/// The sandwich has as many rows as the covariance.
FitErrors from_note(std::string_view note) {
  FitErrors out;
  const auto line = std::min(note.find('\n'), note.size());
  out.message = note.substr(0, line);
  const char *at = note.data() + std::min(line + 1, note.size()), *const end = note.data() + note.size();
  for (std::vector<double> row; at < end; ++at) {
    if (*at == '\n') {
      auto& matrix = !row.empty() && out.covariance.size() == row.size() ? out.sandwich : out.covariance;
      matrix.push_back(std::exchange(row, {}));
    }
    double value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error == std::errc()) row.push_back(value), at = after;
  }
  return out;
}

}  // namespace culmen
