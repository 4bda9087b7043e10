// Covariance of fitted parameters from derivatives at the best candidate. Parameters are in any coordinates.
#pragma once
#include <Eigen/Core>
#include <cstddef>
#include <vector>

#include "culmen/evaluation/loss.hpp"

namespace culmen {

struct Covariance {
  using Indices = std::vector<std::size_t>;  ///< of parameters
  Eigen::MatrixXd matrix;                    ///< NaN in the rows and columns of parameters without an error
  std::size_t rank = 0;                      ///< number of directions that the data determine
  std::vector<Indices> undetermined;         ///< for each direction without effect, its parameters
  std::vector<Indices> negative;             ///< of a Hessian: directions in which the value falls
  Indices fixed;                             ///< parameters that cannot move along the constraints
  double doubt = 0;                          ///< of a Hessian: the largest relative error that the errors may have

  /// Degrees of freedom.
  std::size_t dof(std::size_t residuals) const { return residuals > rank ? residuals - rank : 0; }
};

/// Of residuals. For a rise of the value by 1, so residuals are in units of their standard deviations. Without a robust
/// loss, it is (JᵀJ)⁻¹ by the singular values of J, whose columns are first scaled to length 1 (Björck, Numerical
/// Methods for Least Squares Problems, 1996, 2.8 and 9.7). With a robust loss, it is the inverse of half the value's
/// Hessian, without second derivatives of the residuals. `roughness`: for each parameter, the second difference over
/// the first one; infinity if it has no effect. `normals`: in rows, the normal vectors of the constraints on which the
/// parameters stay.
Covariance covariance_of_residuals(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residuals, const Loss& loss,
                                   const Eigen::VectorXd& roughness, const Eigen::MatrixXd& normals);

/// Of a value that rises by `up`: 2 up H⁻¹ (James, Statistical Methods in Experimental Physics, 2nd ed., 2006, 9.3).
/// `doubt`: the approximate error of H. Eigenvalues no greater than its effect on them may be 0.
Covariance covariance_of_value(const Eigen::MatrixXd& hessian, double up, const Eigen::MatrixXd& doubt,
                               const Eigen::MatrixXd& normals);

/// The covariance of an M-estimator (Huber & Ronchetti, Robust Statistics, 2nd ed., 2009, 7.6), times N/dof (MacKinnon
/// & White, J. Econometrics 29 (1985) 305). NaN without a robust loss, and without degrees of freedom.
Eigen::MatrixXd sandwich(const Covariance& covariance, const Eigen::MatrixXd& jacobian,
                         const Eigen::VectorXd& residuals, const Loss& loss);

enum class Bound : unsigned char { none, lower, upper };

/// Values and bounds of the parameters.
struct WithinBounds {
  Eigen::VectorXd at, lower, upper;
  Eigen::VectorXd span;  ///< widths of the ranges
};

/// For each parameter, the bound that keeps it from the minimum, or none. Such a parameter is closer to the bound than
/// a small share of its error. The minimum that its derivatives predict lies farther than this share beyond the bound.
/// `sizes`: the error of each parameter if all others are fixed.
std::vector<Bound> stopping_bounds(const WithinBounds& place, const Eigen::VectorXd& gradient,
                                   const Eigen::VectorXd& sizes, double up);

}  // namespace culmen
