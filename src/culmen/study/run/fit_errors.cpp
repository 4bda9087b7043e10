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
#include "culmen/study/crew/ranks.hpp"
#include "culmen/study/run/covariance.hpp"
#include "culmen/study/run/further.hpp"
#include "culmen/study/run/run.hpp"
#include "culmen/study/run/slopes.hpp"

namespace culmen {
namespace {
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A matrix over the parameters of the frame, over those of the space and in their unit.
std::vector<std::vector<double>> in_space(const MatrixXd& matrix, const FitFrame& frame) {
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
std::string sentence(const FitFrame& frame, const std::vector<std::string>& reasons) {
  std::string out;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    if (reasons[k].empty()) continue;
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", frame.space[frame.free[k]].name, reasons[k]);
  }
  return out;
}

/// By parameter: the bound that alone stops it, as in culmen.errors.
std::vector<Bound> bounds_at(const FitFrame& frame, const MatrixXd& jacobian, const VectorXd& residuals,
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

FitErrors errors_of(const FitFrame& whole, const Slopes& slopes, const VectorXd& residuals, const Loss& loss) {
  const auto& reasons = slopes.failures;
  const auto bounds = bounds_at(whole, slopes.jacobian, residuals, loss);
  std::vector<Eigen::Index> kept;
  for (std::size_t k = 0; k < reasons.size(); ++k) {
    if (reasons[k].empty() && bounds[k] == Bound::none) kept.push_back(static_cast<Eigen::Index>(k));
  }
  const auto failed = sentence(whole, reasons);
  if (kept.empty() && !failed.empty()) return {{}, {}, "no derivative could be computed: " + failed};
  if (kept.empty()) return {{}, {}, "every parameter is at a bound"};
  const auto frame = whole.part(kept);
  const MatrixXd jacobian = slopes.jacobian(Eigen::all, kept);
  const VectorXd roughness = slopes.roughness(kept);
  const auto covariance =
      covariance_of_residuals(jacobian, residuals, loss, roughness, MatrixXd(0, frame.start.size()));
  FitErrors out{in_space(covariance.matrix, frame)};
  if (!loss.linear()) out.sandwich = in_space(sandwich(covariance, jacobian, residuals, loss), frame);
  if (!failed.empty()) out.message = "parameters without a derivative are held fixed and have no error: " + failed;
  return out;
}

FitErrors computed(const StudyConfig& config, const RunOptions& options, const Function& function,
                   const StudyResult& result) {
  const auto frame = fit_frame_of(config.space, result.best.x);
  const auto& r = result.best_outcome.residuals;
  const VectorXd middle = Eigen::Map<const VectorXd>(r.data(), std::ssize(r));
  const auto source = std::make_shared<SlopesSource>(frame, middle);
  Run run(further_config(config), further_options(options), source, function);
  run.prepare();
  run.execute();
  const auto out = errors_of(frame, source->slopes(run.message()), middle, config.goals.loss);
  run.conclude(to_note(out));
  return out;
}
}  // namespace

bool has_errors(const Space& space, const StudyResult& r) {
  const bool ended = r.reason != StopReason::interrupted && r.reason != StopReason::failure &&
                     r.reason != StopReason::all_failed && r.reason != StopReason::set_up &&
                     r.reason != StopReason::error;
  return ended && r.has_best && !r.best_outcome.residuals.empty() && !(r.best_outcome.violation > 0) &&
         !fit_frame_of(space, r.best.x).free.empty();
}

std::string constraint_at_best(const Space& space, const StudyResult& result) {
  const auto frame = fit_frame_of(space, result.best.x);
  const auto points = points_for_slopes(frame);
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
