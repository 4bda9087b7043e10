#include "culmen/study/run/covariance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "culmen/base/decompositions.hpp"

namespace culmen {
namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Indices = Covariance::Indices;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double null_share = 1e-9;  // singular values below this share of the greatest are rounding errors
constexpr double falling = 1e-3;     // for a Hessian with a diagonal of 1: eigenvalues below minus this mean a saddle
constexpr double touched = 1e-3;     // a parameter with at least this share in undetermined directions has no error
constexpr double named_share = 0.1;  // of the largest share in a direction: parameters below it are not named
constexpr double rough_at_most = 0.1;
constexpr double beside = 0.01;  // in errors: how near to a bound a parameter is at it

/// Orthonormal directions in columns, the size of each, and the size up to which it may be 0.
struct Spectrum {
  MatrixXd directions;
  VectorXd sizes, least;
};

double greatest(const VectorXd& sizes) { return sizes.size() > 0 ? sizes.cwiseAbs().maxCoeff() : 0; }

VectorXd not_zero(const VectorXd& lengths) {
  return lengths.unaryExpr([](double length) { return length == 0 ? 1.0 : length; });
}

VectorXd stable_norms(const MatrixXd& columns) {
  VectorXd out(columns.cols());
  for (Index k = 0; k < out.size(); ++k) out[k] = columns.col(k).stableNorm();
  return out;
}

MatrixXd scaled(const MatrixXd& matrix, const VectorXd& length) {
  return length.cwiseInverse().asDiagonal() * matrix * length.cwiseInverse().asDiagonal();
}

/// An orthonormal basis, in columns, of the moves that stay on the constraints, for coordinates times `length`.
MatrixXd along(const MatrixXd& normals, const VectorXd& length) {
  const Index n = length.size();
  if (normals.rows() == 0) return MatrixXd::Identity(n, n);
  const auto [sizes, right] = singular_values(normals * length.cwiseInverse().asDiagonal());
  return right.rightCols(n - (sizes.array() > null_share * sizes[0]).count());
}

Indices named(const VectorXd& direction) {
  Indices out;
  for (Index k = 0; k < direction.size(); ++k)
    if (std::abs(direction[k]) > named_share * greatest(direction)) out.push_back(static_cast<std::size_t>(k));
  return out;
}

/// squared: the weight of a direction is the square of its size.
Covariance of_spectrum(const Spectrum& s, const VectorXd& length, bool squared) {
  const Index n = length.size();
  Covariance out;
  out.matrix = MatrixXd::Zero(n, n);
  VectorXd lost = VectorXd::Zero(n), all = VectorXd::Zero(n);
  for (Index k = 0; k < s.sizes.size(); ++k) {
    const VectorXd direction = s.directions.col(k);
    const double size = s.sizes[k];
    all += direction.cwiseAbs2();
    if (std::abs(size) > s.least[k] && size > 0) {
      out.matrix += direction * direction.transpose() / (squared ? size * size : size);
      ++out.rank;
      continue;
    }
    lost += direction.cwiseAbs2();
    (std::abs(size) <= s.least[k] ? out.undetermined : out.negative).push_back(named(direction));
  }
  out.matrix = scaled(out.matrix, length);
  for (Index k = 0; k < n; ++k) {
    const bool fixed = all[k] < touched * touched;
    if (fixed) out.fixed.push_back(static_cast<std::size_t>(k));
    if (fixed || lost[k] > touched) out.matrix.row(k).setConstant(nan), out.matrix.col(k).setConstant(nan);
  }
  return out;
}

/// Squares of the finite ones: relative errors of derivatives.
VectorXd inexactness(const VectorXd& roughness) {
  return roughness.unaryExpr([](double rough) {
    if (!std::isfinite(rough)) return 0.0;  // it has no effect, and says nothing about the others
    return std::min(rough, rough_at_most) * std::min(rough, rough_at_most);
  });
}

Covariance of_squares(const MatrixXd& jacobian, const VectorXd& roughness, const MatrixXd& normals) {
  const VectorXd length = not_zero(stable_norms(jacobian));
  const MatrixXd moves = along(normals, length);
  Spectrum found{moves, VectorXd::Zero(moves.cols()), {}};
  if (moves.cols() > 0 && jacobian.rows() > 0) {
    const auto [sizes, right] = singular_values(jacobian * length.cwiseInverse().asDiagonal() * moves);
    found.sizes.head(sizes.size()) = sizes;
    found.directions = moves * right;
  }
  const double least = std::max(null_share, 0.1 * greatest(inexactness(roughness))) * greatest(found.sizes);
  found.least = VectorXd::Constant(moves.cols(), least);
  return of_spectrum(found, length, true);
}

VectorXd each(const VectorXd& residuals, const Loss& loss, double Loss::Weight::*part) {
  return residuals.unaryExpr([&](double r) { return loss.weight(r).*part; });
}

/// The approximate error of the Hessian if derivatives by each parameter have these relative errors.
MatrixXd doubt_of(const MatrixXd& hessian, const VectorXd& inexact) {
  const VectorXd size = hessian.diagonal().cwiseAbs().cwiseSqrt();
  MatrixXd out(hessian.rows(), hessian.cols());
  for (Index a = 0; a < out.rows(); ++a)
    for (Index b = 0; b < out.cols(); ++b) out(a, b) = size[a] * size[b] * std::hypot(inexact[a], inexact[b]);
  return out;
}
}  // namespace

Covariance covariance_of_value(const MatrixXd& hessian, double up, const MatrixXd& doubt, const MatrixXd& normals) {
  const VectorXd length = not_zero((hessian.diagonal().cwiseAbs() / (2 * up)).cwiseSqrt());
  const MatrixXd moves = along(normals, length);
  Spectrum found{moves, VectorXd::Zero(moves.cols()), VectorXd::Zero(moves.cols())};
  if (moves.cols() > 0) {
    const auto own = symmetric_eigen(moves.transpose() * scaled(hessian / (2 * up), length) * moves);
    found.sizes = own.values;
    found.directions = moves * own.vectors;
  }
  const MatrixXd squares = found.directions.cwiseAbs2();
  const MatrixXd doubts = scaled(doubt / (2 * up), length).cwiseAbs2();
  // If the errors of the elements were independent.
  found.least = (2 * (doubts * squares).cwiseProduct(squares).colwise().sum().transpose()).cwiseSqrt();
  found.least = found.least.cwiseMax(null_share * greatest(found.sizes));
  for (Index k = 0; k < found.sizes.size(); ++k)
    if (found.sizes[k] < 0 && found.sizes[k] > -falling) found.least[k] = falling;
  auto out = of_spectrum(found, length, false);
  for (Index k = 0; k < found.sizes.size(); ++k)
    if (found.sizes[k] > found.least[k]) out.doubt = std::max(out.doubt, found.least[k] / found.sizes[k] / 2);
  return out;
}

Covariance covariance_of_residuals(const MatrixXd& jacobian, const VectorXd& residuals, const Loss& loss,
                                   const VectorXd& roughness, const MatrixXd& normals) {
  if (loss.linear()) return of_squares(jacobian, roughness, normals);
  const VectorXd curvatures = each(residuals, loss, &Loss::Weight::curvature);
  const MatrixXd hessian = 2 * jacobian.transpose() * curvatures.asDiagonal() * jacobian;
  return covariance_of_value(hessian, 1, doubt_of(hessian, inexactness(roughness)), normals);
}

MatrixXd sandwich(const Covariance& covariance, const MatrixXd& jacobian, const VectorXd& residuals, const Loss& loss) {
  const auto& matrix = covariance.matrix;
  MatrixXd out = MatrixXd::Constant(matrix.rows(), matrix.cols(), nan);
  const auto dof = static_cast<double>(covariance.dof(static_cast<std::size_t>(residuals.size())));
  if (loss.linear() || dof == 0) return out;
  std::vector<Index> known;
  for (Index k = 0; k < matrix.rows(); ++k)
    if (std::isfinite(matrix(k, k))) known.push_back(k);
  const MatrixXd inverse = matrix(known, known);
  const VectorXd slopes = each(residuals, loss, &Loss::Weight::slope);
  const MatrixXd scores = slopes.cwiseProduct(residuals).asDiagonal() * jacobian(Eigen::all, known);
  const double factor = static_cast<double>(residuals.size()) / dof;
  out(known, known) = factor * inverse * (scores.transpose() * scores) * inverse;
  return out;
}

std::vector<Bound> stopping_bounds(const WithinBounds& place, const VectorXd& gradient, const VectorXd& sizes,
                                   double up) {
  std::vector<Bound> out;
  for (Index k = 0; k < gradient.size(); ++k) {
    const auto bound = gradient[k] > 0 ? Bound::lower : Bound::upper;
    const double gap = std::abs((bound == Bound::lower ? place.lower[k] : place.upper[k]) - place.at[k]);
    const double near = beside * std::min(sizes[k], place.span[k]);
    const double to_minimum = std::abs(gradient[k]) * sizes[k] * sizes[k] / (2 * up);
    out.push_back(gap < near && to_minimum > gap + near ? bound : Bound::none);
  }
  return out;
}

}  // namespace culmen
