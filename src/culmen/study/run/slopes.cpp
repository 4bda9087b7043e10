#include "culmen/study/run/slopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "culmen/optimizer/parts/differences.hpp"

namespace culmen {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double least_size = 1e-3;            // of the range: a parameter near 0 changes the residuals by such steps
constexpr double smooth = 1e-3;                // roughness at which neither rounding nor curvature matters
constexpr double growth = 10, longest = 0.05;  // of a step, and of the range
constexpr double huge = 1e150;                 // squares of larger derivatives overflow
constexpr double tiny = 1e-100;                // a parameter with a smaller effect over its whole range has none
constexpr int rounds = 7;

using Eigen::VectorXd;

VectorXd sizes_of(const FitFrame& frame) { return frame.start.cwiseAbs().cwiseMax(least_size * frame.width); }

std::vector<VectorXd> points_with(const FitFrame& frame, const VectorXd& sizes) {
  std::vector<VectorXd> points;
  Differences differences(frame.lower, frame.upper, std::numeric_limits<double>::epsilon(), false);
  differences.propose(frame.start, sizes, Accuracy::central, points);
  return points;
}

/// Why an outcome has no such number of residuals, or an empty text.
std::string failure_of(const Outcome& outcome, std::size_t count) {
  if (!outcome.ok()) {
    const auto line = outcome.message.substr(0, outcome.message.find('\n'));
    return line.empty() ? std::string(to_string(outcome.status)) : line;
  }
  if (outcome.residuals.size() == count) return {};
  return fmt::format("there are {} residuals there, but {} at the best candidate", outcome.residuals.size(), count);
}
}  // namespace

std::vector<VectorXd> points_for_slopes(const FitFrame& frame) { return points_with(frame, sizes_of(frame)); }

SlopesSource::SlopesSource(FitFrame frame, VectorXd middle)
    : frame_(std::move(frame)), middle_(std::move(middle)), sizes_(sizes_of(frame_)) {
  const auto n = frame_.start.size();
  slopes_.jacobian = Eigen::MatrixXd::Constant(middle_.size(), n, std::numeric_limits<double>::quiet_NaN());
  slopes_.roughness = VectorXd::Constant(n, infinity);
  slopes_.failures.resize(frame_.free.size());
  std::vector<Eigen::Index> all(frame_.free.size());
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  begin_round(all);
}

void SlopesSource::begin_round(const std::vector<Eigen::Index>& growing) {
  growing_ = growing;
  sides_.clear();
  asked_ = 0;
  first_ = next_;
  if (growing_.empty() || round_ == rounds) {
    closed_ = true;
    return;
  }
  ++round_;
  auto points = points_with(frame_, sizes_);
  for (const auto k : growing_) {
    for (const auto at : {2 * static_cast<std::size_t>(k), 2 * static_cast<std::size_t>(k) + 1})
      sides_.push_back({std::move(points[at]), {}, {}, false});
  }
}

std::size_t SlopesSource::ask(std::size_t n, std::vector<Candidate>& out) {
  const std::lock_guard lock(mutex_);
  std::size_t given = 0;
  for (; given < n && asked_ < sides_.size(); ++given)
    out.push_back({next_++, frame_.vector(sides_[asked_++].point), {}});
  open_ += given;
  return given;
}

void SlopesSource::tell(EvaluationId id, Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  --open_;
  auto& side = sides_.at(id - first_);
  side.failure = failure_of(outcome, static_cast<std::size_t>(middle_.size()));
  if (side.failure.empty())
    side.residuals = Eigen::Map<const VectorXd>(outcome.residuals.data(), std::ssize(outcome.residuals));
  side.told = true;
  if (std::ranges::all_of(sides_, &Side::told)) end_round();
}

void SlopesSource::cancel(EvaluationId) {
  const std::lock_guard lock(mutex_);
  --open_;
}

bool SlopesSource::finished() const {
  const std::lock_guard lock(mutex_);
  return closed_ && open_ == 0;
}

void SlopesSource::end_round() {
  std::vector<Eigen::Index> again;
  for (std::size_t i = 0; i < growing_.size(); ++i) {
    const auto k = growing_[i];
    const auto &first = sides_[2 * i], &second = sides_[2 * i + 1];
    const double step = std::max(std::abs(offset(k, first)), std::abs(offset(k, second)));
    if (judge(k, first, second) && growth * step <= longest * frame_.width[k]) again.push_back(k);
  }
  for (const auto k : again) sizes_[k] *= growth;
  begin_round(again);
}

/// Keeps the better slope of a parameter. True if a longer step may give a better one.
bool SlopesSource::judge(Eigen::Index k, const Side& first, const Side& second) {
  const auto usable = [&](const Side& side) { return side.failure.empty() && offset(k, side) != 0; };
  const auto rise = [&](const Side& side) -> VectorXd { return (side.residuals - middle_) / offset(k, side); };
  const bool one = usable(first), other = usable(second), is_new = slopes_.jacobian.col(k).hasNaN();
  auto& failure = slopes_.failures[static_cast<std::size_t>(k)];
  if (!one && !other) {
    if (is_new) failure = first.failure.empty() ? "no point next to it is allowed" : first.failure;
    return false;
  }
  VectorXd slope;
  double rough = infinity;
  bool flat = false;
  if (one && other) {
    const double a = offset(k, first), b = offset(k, second);
    slope = (rise(first) * b - rise(second) * a) / (b - a);
    const VectorXd curve = (rise(first) - rise(second)) / (a - b);
    const double size = slope.stableNorm();
    flat = size == 0;
    if (!flat) rough = curve.stableNorm() * std::abs(a) / size;
  } else {
    slope = rise(one ? first : second);
  }
  if (!(slope.array().abs() < huge).all()) {
    if (is_new) failure = "its derivatives are too large, or not finite";
    return false;
  }
  const bool better = is_new || rough < slopes_.roughness[k];
  if (better) {
    slopes_.jacobian.col(k) = slope;
    slopes_.roughness[k] = rough;
    failure.clear();
  }
  return one && other && rough > smooth && (better || flat);
}

Slopes SlopesSource::slopes(const std::string& unfinished) const {
  const std::lock_guard lock(mutex_);
  auto out = slopes_;
  for (Eigen::Index k = 0; k < out.jacobian.cols(); ++k) {
    auto& failure = out.failures[static_cast<std::size_t>(k)];
    auto column = out.jacobian.col(k);
    if (column.hasNaN()) {
      column.setZero();
      if (failure.empty()) failure = unfinished;
    } else if (column.cwiseAbs().maxCoeff() * frame_.width[k] < tiny) {
      column.setZero();
      out.roughness[k] = infinity;
    }
  }
  return out;
}

}  // namespace culmen
